import Authorization
import EventBus
import Foundation
import Music
import Support
import Testing
import TokenVault

@Suite("Access tokens from the vault")
struct VaultAccessTokensTests {
    let scratch: ScratchVault

    init() throws {
        scratch = try ScratchVault()
    }

    /// - Parameter renew: the writing process's reaction to the request. Without a change of the vault, an error.
    func tokens(
        timeout: Duration = .seconds(60), renew: @escaping @Sendable (Int) async throws -> Void = { _ in }
    ) -> VaultAccessTokens {
        VaultAccessTokens(
            vault: TokenVaultReader(directory: scratch.vault), session: Session.default, timeout: timeout,
            requestRenewal: renew)
    }

    @Test("There is no token without an account")
    func notAuthorized() async throws {
        await #expect(throws: MusicError.notAuthorized) { try await tokens().current() }
    }

    @Test("The current token is the newest one, with its generation")
    func current() async throws {
        try await TokenVault.open(directory: scratch.vault).save(.fixture(1))
        #expect(try await tokens().current() == AccessToken(value: "access-secret-1", generation: 1))
    }

    @Test("A refused token is named by its generation, and its successor is awaited")
    func renewed() async throws {
        let vault = try await TokenVault.open(directory: scratch.vault)
        try await vault.save(.fixture(1))
        let token = try await tokens { generation in
            #expect(generation == 1)
            try await vault.save(.fixture(2))
        }.newer(thanRefused: 1)
        #expect(token == AccessToken(value: "access-secret-2", generation: 2))
    }

    @Test("No renewal is requested if the successor already exists")
    func alreadyRenewed() async throws {
        let vault = try await TokenVault.open(directory: scratch.vault)
        try await vault.save(.fixture(1))
        try await vault.save(.fixture(2))
        let token = try await tokens { _ in Issue.record("nobody should be asked") }.newer(thanRefused: 1)
        #expect(token.generation == 2)
    }

    @Test("The work ends if the account was removed instead")
    func ended() async throws {
        let vault = try await TokenVault.open(directory: scratch.vault)
        try await vault.save(.fixture(1))
        await #expect(throws: MusicError.authorizationEnded) {
            try await tokens { _ in try await vault.clear() }.newer(thanRefused: 1)
        }
        await #expect(throws: MusicError.authorizationEnded) { try await tokens().newer(thanRefused: 1) }
    }

    @Test("The work ends at once if the renewal fails, without waiting for the deadline")
    func failed() async throws {
        let vault = try await TokenVault.open(directory: scratch.vault)
        try await vault.save(.fixture(1))
        for _ in 0..<2 {
            await #expect(throws: MusicError.renewalFailed) {
                try await tokens(timeout: .seconds(30)) { _ in
                    try await vault.recordFailedRenewal(of: Session.default, at: Date())
                }.newer(thanRefused: 1)
            }
        }
        #expect(try await tokens().current().generation == 1, "the token stays")
    }

    @Test("The work ends at once if the renewal is answered with an error, even if the vault has no record of it")
    func answeredWithError() async throws {
        try await TokenVault.open(directory: scratch.vault).save(.fixture(1))
        await #expect(throws: MusicError.renewalFailed) { try await tokens().newer(thanRefused: 1) }
    }

    @Test("The work fails at the deadline if nothing happens")
    func overdue() async throws {
        try await TokenVault.open(directory: scratch.vault).save(.fixture(1))
        await #expect(throws: MusicError.renewalOverdue) {
            try await tokens(timeout: .milliseconds(1)) { _ in try await Latch().waitUntilOpen() }.newer(thanRefused: 1)
        }
    }

    @Test("A vault that cannot be read is reported with its path, and never with a secret")
    func unreadable() async throws {
        try await TokenVault.open(directory: scratch.vault).save(.fixture(1))
        try scratch.write(Data("rubbish".utf8), to: "tokens")
        let error = await #expect(throws: MusicError.self) { try await tokens().current() }
        guard case .accessUnreadable(let reason) = error else {
            Issue.record("unexpected \(String(describing: error))")
            return
        }
        #expect(reason.contains(scratch.file("tokens")))
    }

    @Test("A token is never printed")
    func redaction() {
        let token = AccessToken(value: "access-secret", generation: 3)
        var dumped = ""
        dump(token, to: &dumped)
        for text in ["\(token)", String(reflecting: token), "\([token])", dumped] {
            #expect(!text.contains("access-secret"))
            #expect(text.contains("3"))
        }
    }
}
