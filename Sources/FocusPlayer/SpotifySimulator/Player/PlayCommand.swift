/// The body of `PUT /me/player/play`. Without a context and without tracks it resumes what was playing.
struct PlayCommand: Decodable, Sendable, Equatable {
    /// A playlist, album or artist.
    var context: String?
    /// The tracks to play, in order.
    var tracks: [String]?
    /// Where in the first track to begin.
    var positionInMilliseconds: Int?

    private enum CodingKeys: String, CodingKey {
        case context = "context_uri"
        case tracks = "uris"
        case positionInMilliseconds = "position_ms"
    }

    /// Whether the command makes sense whatever the state of the player is.
    func validate() throws(WebAPIError) {
        guard context == nil || tracks == nil else {
            throw .badRequest("Only one of context_uri and uris can be specified")
        }
        if let context, !["playlist", "album", "artist"].contains(where: { context.hasPrefix("spotify:\($0):") }) {
            throw .badRequest("Unsupported context uri: \(context)")
        }
        if let tracks {
            guard !tracks.isEmpty else { throw .badRequest("No uris provided") }
            if let stranger = tracks.first(where: { !$0.hasPrefix("spotify:track:") }) {
                throw .badRequest("Invalid track uri: \(stranger)")
            }
        }
        guard positionInMilliseconds ?? 0 >= 0 else { throw .badRequest("position_ms must be positive") }
    }
}
