/// A playlist that the user owns or follows.
struct Playlist: Sendable, Equatable {
    /// Letters and digits, as Spotify's identifiers are.
    var id: String
    /// What people call it.
    var name: String
    /// One sentence, or nothing.
    var description: String
    /// The id of the user who owns it.
    var owner: String
    /// Whether its followers may change it. Spotify then shows them its items too.
    var isCollaborative: Bool
    /// In order.
    var songs: [Song]

    /// Whether Spotify lists the items to this user: it does so to owners and collaborators only.
    func showsItems(to user: User) -> Bool {
        owner == user.id || isCollaborative
    }
}
