/// The account behind every token.
struct User: Sendable, Equatable {
    /// The Spotify user id, as in `spotify:user:ID`.
    var id: String
    /// The name shown on the consent page.
    var name: String
    /// Shown only to clients that hold `user-read-email`.
    var email: String
    /// Whether the player accepts commands until the control page says otherwise.
    var isPremium: Bool
}
