/// Where the tokens are kept. It counts: each change makes a new generation, so that "the token of generation 3 was
/// refused" means the same to every process, and never needs the token itself.
package protocol TokenStore: Sendable {
    /// What is kept now. Generation 0 without tokens if nothing ever was.
    func load() async throws -> StoredTokens

    /// Keeps `tokens` under the next generation. Returns only when they survive a crash.
    @discardableResult
    func save(_ tokens: SpotifyTokens) async throws -> StoredTokens

    /// Forgets the tokens, under the next generation.
    @discardableResult
    func clear() async throws -> StoredTokens
}
