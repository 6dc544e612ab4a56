internal import Music
package import Vocabulary

extension SpotifyWebAPI: Player {
    /// As many songs as Spotify takes in one call.
    package static let maximumSongsPerCall = 100

    private struct Playback: Encodable {
        let uris: [String]
    }

    private struct Transfer: Encodable {
        /// Spotify takes exactly one.
        let deviceIds: [String]
        let play = false
    }

    package func devices() async throws -> [Device] {
        try await get(host.url("/v1/me/player/devices"), as: DevicesPayload.self, about: "the devices").controllable
    }

    /// Plays the first ``maximumSongsPerCall`` songs: more cannot be told at once, and nobody focuses longer.
    package func play(_ songs: [Song], on deviceID: Device.ID?) async throws {
        let query = deviceID.map { "?device_id=\(FormEncoding.escape($0))" } ?? ""
        try await put(
            "/v1/me/player/play\(query)", Playback(uris: songs.prefix(Self.maximumSongsPerCall).map(\.uri)),
            about: "the device")
    }

    package func transfer(to deviceID: Device.ID) async throws {
        try await put("/v1/me/player", Transfer(deviceIds: [deviceID]), about: "the device")
    }
}
