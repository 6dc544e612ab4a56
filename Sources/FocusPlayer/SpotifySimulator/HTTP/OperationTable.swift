import HTTPOperations
import HTTPTypes
import Support

/// The operations that the simulator has, and those that Spotify has in addition.
struct OperationTable: Sendable {
    /// The reason why a request has no route.
    enum Refusal: Equatable {
        /// Neither the simulator nor Spotify has the path.
        case unknownPath
        /// The path has only other methods.
        case methodNotAllowed(allowed: [String])
        /// The operation is one of Spotify's. `message` names the operations that are simulated.
        case notSimulated(message: String)
    }

    private let simulated: [HTTPOperation]
    private let others: [HTTPOperation]

    init(_ simulated: [HTTPOperation]) {
        self.simulated = simulated
        others = Self.spotify.flatMap { method, paths in paths.map { HTTPOperation(method, "/v1/\($0)") } }
            .filter { !simulated.contains($0) }
    }

    /// - Parameter path: A path for which the router has no route with this method.
    func refusal(of method: HTTPRequest.Method, _ path: String) -> Refusal {
        let found = (simulated + others).filter { $0.hasPath(path) }
        guard !found.isEmpty else { return .unknownPath }
        let sought = method == .head ? .get : method
        if let operation = found.first(where: { $0.method == sought }) {
            let known = simulated.filter { $0.path.begins(with: "/v1/") }.map(\.description).joined(separator: ", ")
            return .notSimulated(message: "\(operation) is not simulated; the simulator has \(known)")
        }
        let heads = found.filter { $0.method == .get }.map { HTTPOperation(.head, $0.path) }
        return .methodNotAllowed(allowed: (found + heads).methods)
    }

    /// The operations of Spotify's Web API, deprecated ones too, without the prefix `/v1/`.
    private static let spotify: [HTTPRequest.Method: [String]] = [
        .get: [
            "albums", "albums/{id}", "albums/{id}/tracks", "artists", "artists/{id}", "artists/{id}/albums",
            "artists/{id}/related-artists", "artists/{id}/top-tracks", "audio-analysis/{id}", "audio-features",
            "audio-features/{id}", "audiobooks", "audiobooks/{id}", "audiobooks/{id}/chapters", "browse/categories",
            "browse/categories/{id}", "browse/categories/{id}/playlists", "browse/featured-playlists",
            "browse/new-releases", "chapters", "chapters/{id}", "episodes", "episodes/{id}", "markets", "me",
            "me/albums", "me/albums/contains", "me/audiobooks", "me/audiobooks/contains", "me/episodes",
            "me/episodes/contains", "me/following", "me/following/contains", "me/library/contains", "me/player",
            "me/player/currently-playing", "me/player/devices", "me/player/queue", "me/player/recently-played",
            "me/playlists", "me/shows", "me/shows/contains", "me/top/artists", "me/top/tracks", "me/tracks",
            "me/tracks/contains", "playlists/{id}", "playlists/{id}/followers/contains", "playlists/{id}/images",
            "playlists/{id}/items", "playlists/{id}/tracks", "recommendations",
            "recommendations/available-genre-seeds", "search", "shows", "shows/{id}", "shows/{id}/episodes", "tracks",
            "tracks/{id}", "users/{id}", "users/{id}/playlists",
        ],
        .put: [
            "me/albums", "me/audiobooks", "me/episodes", "me/following", "me/library", "me/player", "me/player/pause",
            "me/player/play", "me/player/repeat", "me/player/seek", "me/player/shuffle", "me/player/volume", "me/shows",
            "me/tracks", "playlists/{id}", "playlists/{id}/followers", "playlists/{id}/images", "playlists/{id}/items",
            "playlists/{id}/tracks",
        ],
        .post: [
            "me/player/next", "me/player/previous", "me/player/queue", "me/playlists", "playlists/{id}/items",
            "playlists/{id}/tracks", "users/{id}/playlists",
        ],
        .delete: [
            "me/albums", "me/audiobooks", "me/episodes", "me/following", "me/library", "me/shows", "me/tracks",
            "playlists/{id}/followers", "playlists/{id}/items", "playlists/{id}/tracks",
        ],
    ]
}
