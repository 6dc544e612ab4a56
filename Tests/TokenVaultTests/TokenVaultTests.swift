import Authorization
import Foundation
import Testing
import TokenVault

@Suite("Token vault")
struct TokenVaultTests {
    let scratch: ScratchVault

    init() throws {
        scratch = try ScratchVault()
    }

    @Test("A new vault is empty, with generation 0")
    func empty() async throws {
        let vault = try await TokenVault.open(directory: scratch.vault)
        #expect(try await vault.load() == .none)
        #expect(try await vault.pending().isEmpty)
    }

    @Test("Stored tokens survive the process, and each change is a generation, including a removal")
    func persistence() async throws {
        do {
            let vault = try await TokenVault.open(directory: scratch.vault)
            #expect(try await vault.save(.fixture(1)).generation == 1)
            #expect(try await vault.save(.fixture(2)) == StoredTokens(generation: 2, tokens: .fixture(2)))
        }
        do {
            let vault = try await TokenVault.open(directory: scratch.vault)
            #expect(try await vault.load() == StoredTokens(generation: 2, tokens: .fixture(2)))
            #expect(try await vault.clear() == StoredTokens(generation: 3, tokens: nil))
        }
        let reader = TokenVaultReader(directory: scratch.vault)
        #expect(try await reader.read() == StoredTokens(generation: 3, tokens: nil))
    }

    @Test("Unanswered requests for consent survive the process, with verifier and cause")
    func pending() async throws {
        let attempts = [PendingAuthorization.fixture("anna"), .fixture("bert")]
        do {
            try await TokenVault.open(directory: scratch.vault).replacePending(with: attempts)
        }
        let vault = try await TokenVault.open(directory: scratch.vault)
        #expect(try await vault.pending() == attempts)
    }

    @Test("The directory is 0700 and every file in it 0600")
    func permissions() async throws {
        let vault = try await TokenVault.open(directory: scratch.vault + "/")
        try await vault.save(.fixture())
        try await vault.replacePending(with: [.fixture()])
        #expect(try scratch.mode() == 0o700)
        #expect(try scratch.names == ["key", "lock", "pending", "tokens"])
        for name in try scratch.names {
            #expect(try scratch.mode(name) == 0o600)
        }
    }

    @Test("No secret can be read in any file")
    func sealed() async throws {
        let vault = try await TokenVault.open(directory: scratch.vault)
        let attempt = PendingAuthorization.fixture()
        try await vault.save(.fixture())
        try await vault.replacePending(with: [attempt])
        for name in try scratch.names {
            let content = try scratch.content(name)
            for secret in ["secret", attempt.verifier.value, "refreshToken"] {
                #expect(content.range(of: Data(secret.utf8)) == nil)
            }
        }
    }

    @Test("Only one process writes at a time, and the next can write when the first has ended")
    func lock() async throws {
        do {
            let first = try await TokenVault.open(directory: scratch.vault)
            let error = await #expect(throws: TokenStoreError.self) {
                try await TokenVault.open(directory: scratch.vault)
            }
            #expect(error?.code == "vault.taken")
            _ = try await first.load()
        }
        _ = try await TokenVault.open(directory: scratch.vault)
    }

    @Test("A half-written file of a killed writer is not read, and is removed by the next writer")
    func halfWritten() async throws {
        do {
            try await TokenVault.open(directory: scratch.vault).save(.fixture())
        }
        try scratch.write(Data("SEGUE-VA".utf8), to: "tokens.tmp")

        let reader = TokenVaultReader(directory: scratch.vault)
        #expect(try await reader.read().tokens == .fixture())
        let vault = try await TokenVault.open(directory: scratch.vault)
        #expect(try !scratch.names.contains("tokens.tmp"))
        #expect(try await vault.save(.fixture(2)).generation == 2)
    }

    @Test("Each session has its own tokens and its own generations")
    func sessions() async throws {
        let vault = try await TokenVault.open(directory: scratch.vault)
        try await vault.save(.fixture(1), of: "anna")
        try await vault.save(.fixture(2), of: "bert")
        try await vault.save(.fixture(3), of: "bert")
        try await vault.clear("anna")

        let reader = TokenVaultReader(directory: scratch.vault)
        #expect(try await reader.read("anna") == StoredTokens(generation: 2, tokens: nil))
        #expect(try await reader.read("bert") == StoredTokens(generation: 2, tokens: .fixture(3)))
        #expect(try await reader.read("carla") == .none)
    }
}
