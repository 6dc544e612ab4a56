package import Authorization

/// Reads the tokens that another process writes.
package struct TokenVaultReader: Sendable {
    /// How often a waiting reader looks. Opening a file of some hundred bytes costs microseconds, a person waits for the
    /// round trip to Spotify behind it, and unlike inotify it works the same on every system.
    private static let pollInterval = Duration.milliseconds(25)

    private let directory: VaultDirectory
    private let queue = FileQueue()

    /// - Parameter directory: the vault's. It need not be there yet.
    package init(directory: String) {
        self.directory = VaultDirectory(directory)
    }

    /// What is kept now; ``StoredTokens/none`` if nothing ever was.
    /// - Throws: `TokenStoreError`.
    package func read() async throws -> StoredTokens {
        try await queue.run { [directory] in try TokenVaultFiles(directory).readTokens() }
    }

    /// Waits until the vault holds a generation above `generation`.
    /// - Returns: what it holds then, or nil if it still held nothing newer after `timeout`.
    /// - Throws: `TokenStoreError`, `CancellationError`.
    package func waitForGeneration(after generation: Int, timeout: Duration) async throws -> StoredTokens? {
        let clock = ContinuousClock()
        let deadline = clock.now.advanced(by: timeout)
        while true {
            let stored = try await read()
            if stored.generation > generation { return stored }
            let next = clock.now.advanced(by: Self.pollInterval)
            guard next < deadline else { return nil }
            try await clock.sleep(until: next)
        }
    }
}
