package import Vocabulary

/// Plays on the account's devices.
package protocol Player: Sendable {
    /// The devices that could play now. Spotify does not say which are only asleep.
    /// - Throws: ``MusicError``, as all of these.
    func devices() async throws -> [Device]

    /// Plays songs from the first one on. Safe to repeat: it starts again.
    /// - Parameter deviceID: nil for the active device.
    /// - Throws: ``MusicError/noActiveDevice``, ``MusicError/premiumRequired``.
    func play(_ songs: [Song], on deviceID: Device.ID?) async throws

    /// Makes a device the active one.
    func transfer(to deviceID: Device.ID) async throws
}
