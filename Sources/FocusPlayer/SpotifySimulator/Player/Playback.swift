/// What the user hears, or has paused.
struct Playback: Codable, Sendable, Equatable {
    var deviceID: String
    var isPlaying: Bool
    /// The playlist, album or artist, when one was asked for.
    var context: String?
    /// The tracks, when they were asked for one by one.
    var tracks: [String]
    var positionInMilliseconds: Int
}
