/// What a token permits. These are all the scopes that Spotify knows; it refuses to ask the user for any other.
enum Scope: String, Codable, CaseIterable, Sendable {
    case appRemoteControl = "app-remote-control"
    case playlistModifyPrivate = "playlist-modify-private"
    case playlistModifyPublic = "playlist-modify-public"
    case playlistReadCollaborative = "playlist-read-collaborative"
    case playlistReadPrivate = "playlist-read-private"
    case streaming
    case ugcImageUpload = "ugc-image-upload"
    case userFollowModify = "user-follow-modify"
    case userFollowRead = "user-follow-read"
    case userLibraryModify = "user-library-modify"
    case userLibraryRead = "user-library-read"
    case userModifyPlaybackState = "user-modify-playback-state"
    case userReadCurrentlyPlaying = "user-read-currently-playing"
    case userReadEmail = "user-read-email"
    case userReadPlaybackPosition = "user-read-playback-position"
    case userReadPlaybackState = "user-read-playback-state"
    case userReadPrivate = "user-read-private"
    case userReadRecentlyPlayed = "user-read-recently-played"
    case userTopRead = "user-top-read"

    /// Reads a space-separated list; `nil` when one of them is no scope.
    static func list(_ text: String) -> Set<Scope>? {
        let names = text.split(separator: " ")
        let scopes = names.compactMap { Scope(rawValue: String($0)) }
        return scopes.count == names.count ? Set(scopes) : nil
    }
}

extension Set<Scope> {
    /// The space-separated form, always in the same order.
    var list: String { map(\.rawValue).sorted().joined(separator: " ") }
}
