/// The body of `PUT /me/player`.
struct TransferCommand: Decodable, Sendable, Equatable {
    /// Spotify takes a list, but no more than one.
    var deviceIDs: [String]
    /// `true` makes sure that playback happens on the new device; otherwise it goes on as it was.
    var play: Bool?

    private enum CodingKeys: String, CodingKey {
        case deviceIDs = "device_ids"
        case play
    }
}
