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

    @Test("A vault that was never written is empty, and is not created by reading")
    func missing() async throws {
        #expect(try await reader.read() == .none)
        #expect(!FileManager.default.fileExists(atPath: scratch.vault))
    }

    @Test("A wait can begin before the vault exists, and ends with the next generation")
    func waits() async throws {
        async let waited = reader.waitForGeneration(after: 0, timeout: .seconds(60))
        try await TokenVault.open(directory: scratch.vault).save(.fixture())
        #expect(try await waited == StoredTokens(generation: 1, tokens: .fixture()))
    }

    @Test("A generation that already exists is returned at once")
    func alreadyThere() async throws {
        try await TokenVault.open(directory: scratch.vault).save(.fixture())
        #expect(try await reader.waitForGeneration(after: 0, timeout: .zero)?.generation == 1)
    }

    @Test("A wait returns nothing at its deadline, without an error")
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

    @Test("Many readers beside a writer read whole generations only, and never an older one than before")
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
