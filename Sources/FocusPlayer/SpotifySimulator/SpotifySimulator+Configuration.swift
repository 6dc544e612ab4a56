extension SpotifySimulator {
    /// How the simulator runs.
    package struct Configuration: Sendable, Equatable {
        /// On 127.0.0.1; 0 picks a free one, which `onReady` tells.
        package var port: Int
        /// How tokens are handed out.
        package var tokenPolicy: TokenPolicy
        /// Where to keep grants, tokens (as digests) and the player, so that they survive a crash; `nil` forgets them.
        package var stateFile: String?

        /// - Parameters:
        ///   - port: 0 picks a free one.
        ///   - tokenPolicy: How tokens are handed out.
        ///   - stateFile: `nil` keeps nothing.
        package init(port: Int = 0, tokenPolicy: TokenPolicy = TokenPolicy(), stateFile: String? = nil) {
            self.port = port
            self.tokenPolicy = tokenPolicy
            self.stateFile = stateFile
        }
    }
}
