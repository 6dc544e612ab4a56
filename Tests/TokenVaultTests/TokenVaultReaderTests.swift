import Authorization
import Foundation
import Testing
import TokenVault

@Suite("Token vault readers")
struct TokenVaultReaderTests {
    let scratch: ScratchVault
    let reader: TokenVaultReader

    init() throws {
        scratch = try ScratchVault()
        reader = TokenVaultReader(directory: scratch.vault)
    }

    @Test("A vault that nobody made yet is empty, and is not made by reading")
    func missing() async throws {
        #expect(try await reader.read() == .none)
        #expect(!FileManager.default.fileExists(atPath: scratch.vault))
    }

    @Test("Waiting begins before the vault is there, and ends with the next generation")
    func waits() async throws {
        async let waited = reader.waitForGeneration(after: 0, timeout: .seconds(60))
        try await TokenVault.open(directory: scratch.vault).save(.fixture())
        #expect(try await waited == StoredTokens(generation: 1, tokens: .fixture()))
    }

    @Test("A generation that is there already is not waited for")
    func alreadyThere() async throws {
        try await TokenVault.open(directory: scratch.vault).save(.fixture())
        #expect(try await reader.waitForGeneration(after: 0, timeout: .zero)?.generation == 1)
    }

    @Test("At the deadline there is nothing, and no error")
    func deadline() async throws {
        try await TokenVault.open(directory: scratch.vault).save(.fixture())
        #expect(try await reader.waitForGeneration(after: 1, timeout: .milliseconds(1)) == nil)
    }

    @Test("A waiting reader ends at once when it is cancelled")
    func cancelled() async throws {
        let task = Task { try await reader.waitForGeneration(after: 0, timeout: .seconds(600)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("Many readers beside a writer see whole generations only, and never one older than before")
    func concurrent() async throws {
        let vault = try await TokenVault.open(directory: scratch.vault)
        try await vault.save(.fixture(1))
        let last = 60
        try await withThrowingTaskGroup { group in
            for _ in 0..<4 {
                group.addTask { [vault = scratch.vault] in
                    let reader = TokenVaultReader(directory: vault)
                    var seen = 0
                    while seen < last {
                        // If the writer fails, the test ends with the writer's error.
                        try Task.checkCancellation()
                        let stored = try await reader.read()
                        #expect(stored.generation >= seen)
                        #expect(stored.tokens == .fixture(stored.generation))
                        seen = stored.generation
                    }
                }
            }
            for number in 2...last {
                try await vault.save(.fixture(number))
            }
            try await group.waitForAll()
        }
    }
}
