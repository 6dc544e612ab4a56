/// What a ``TokenStore`` keeps.
package struct StoredTokens: Codable, Hashable, Sendable {
    /// Grows with each change, forgetting included.
    package let generation: Int
    /// nil if there are none, or none any more.
    package let tokens: SpotifyTokens?

    package init(generation: Int, tokens: SpotifyTokens?) {
        self.generation = generation
        self.tokens = tokens
    }

    /// Before anything was kept.
    package static let none = StoredTokens(generation: 0, tokens: nil)

    /// What follows this.
    package func followed(by tokens: SpotifyTokens?) -> StoredTokens {
        StoredTokens(generation: generation + 1, tokens: tokens)
    }
}
