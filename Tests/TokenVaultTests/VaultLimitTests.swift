import Authorization
import EventBus
import Foundation
import Testing

@testable import TokenVault

@Suite("Limits of the vault")
struct VaultLimitTests {
    let scratch: ScratchVault

    init() throws {
        scratch = try ScratchVault()
    }

    func requests(_ count: Int) -> [PendingAuthorization] {
        (0..<count).map { .fixture("session-\($0)", state: "state-\($0)") }
    }

    @Test("Thousands of unanswered requests for consent are refused, and the vault stays readable")
    func tooManyRequests() async throws {
        let vault = try await TokenVault.open(directory: scratch.vault)
        let most = requests(VaultLimit.requests)
        try await vault.replacePending(with: most)
        let many = requests(2_500)
        let error = await #expect(throws: TokenStoreError.self) { try await vault.replacePending(with: many) }
        #expect(error?.code == "vault.busy")
        #expect(try await vault.pending() == most)
        try await vault.changePending { $0.removeFirst() }
        try await vault.changePending { $0.append(.fixture("anna")) }
        #expect(try await vault.pending().count == VaultLimit.requests)
    }

    @Test("Too many requests of an earlier version can still be answered and removed")
    func earlierRequests() throws {
        let many = requests(1_500)
        let earlier = try JSONDecoder().decode(PendingFile.self, from: JSONEncoder().encode(many)).requests
        #expect(earlier == many)
        #expect(try PendingFile(Array(many.dropLast()), replacing: many).requests.count == 1_499)
        #expect(throws: TokenStoreError.self) { try PendingFile(many + [.fixture("anna")], replacing: many) }
    }

    @Test("A full file with the largest entries can be read")
    func largestRequests() async throws {
        let redirectURI = String(repeating: "u", count: VaultLimit.entry - 700)
        let cause = PendingAuthorization.fixture().cause
        let vault = try await TokenVault.open(directory: scratch.vault)
        let large = PendingAuthorization(
            state: "s", verifier: CodeVerifier(), redirectURI: redirectURI, cause: cause, requestedAt: cause.time)
        try await vault.replacePending(with: Array(repeating: large, count: VaultLimit.requests))
        #expect(try await vault.pending().count == VaultLimit.requests)
        #expect(try scratch.content("pending").count > 3_000_000)

        let oversized = PendingAuthorization(
            state: "s", verifier: CodeVerifier(), redirectURI: redirectURI + redirectURI, cause: cause,
            requestedAt: cause.time)
        let error = await #expect(throws: TokenStoreError.self) { try await vault.replacePending(with: [oversized]) }
        #expect(error?.code == "vault.too-large")
    }

    @Test("Accounts beyond the limit are refused, and existing ones can be renewed and removed")
    func tooManyAccounts() throws {
        var accounts = AccountsFile()
        func advance(_ session: String, to tokens: SpotifyTokens?) throws {
            try accounts.store(accounts[session].followed(by: tokens), of: session)
        }
        for number in 0..<VaultLimit.accounts { try advance("session-\(number)", to: .fixture()) }
        let error = #expect(throws: TokenStoreError.self) { try advance("one more", to: .fixture()) }
        #expect(error?.code == "vault.full")
        #expect(!accounts.hasRoom(for: "one more") && accounts.hasRoom(for: "session-0"))
        try advance("session-0", to: .fixture(2))
        try advance("session-0", to: nil)
        #expect(accounts["session-0"] == StoredTokens(generation: 3, tokens: nil))

        // The entry of the account that is gone is removed, and its generations are not used again.
        try advance("one more", to: .fixture())
        #expect(accounts["session-0"] == StoredTokens(generation: 3, tokens: nil))
        #expect(accounts["one more"].generation == 1)
        #expect(throws: TokenStoreError.self) { try advance("session-0", to: .fixture()) }
        let huge = SpotifyTokens(
            accessToken: String(repeating: "a", count: VaultLimit.entry), refreshToken: "r", scope: "",
            expiresAt: Date(timeIntervalSince1970: 0))
        #expect(throws: TokenStoreError.self) { try advance("session-1", to: huge) }
        #expect(accounts["session-1"].tokens == .fixture())
    }

    @Test("A file of a newer format is refused with its number, and is not overwritten")
    func newer() async throws {
        let vault = try await TokenVault.open(directory: scratch.vault)
        let directory = VaultDirectory(scratch.vault)
        try SealedFile<[String: Int]>("tokens", in: directory).write(["version": 3], with: directory.key())
        let before = try scratch.content("tokens")
        let error = await #expect(throws: TokenStoreError.self) { try await vault.load() }
        #expect(error?.code == "vault.newer" && error?.message.contains("format 3") == true)
        await #expect(throws: TokenStoreError.self) { try await vault.save(.fixture()) }
        #expect(try scratch.content("tokens") == before)
    }
}
