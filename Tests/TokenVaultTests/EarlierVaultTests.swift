import Authorization
import EventBus
import Foundation
import Testing
import TokenVault

@Suite("Token vaults of earlier versions")
struct EarlierVaultTests {
    /// The files of a vault that the version of 2026-11 wrote. That version encrypted them with swift-crypto.
    let files = [
        "key": """
        u7Za7UCTtI2vPDHkeEbevqtWqn5o7DZ7Iq1sJpFOYhA=
        """,
        "tokens": """
        U0VHVUUtVkFVTFQtMQriBQbtU/KC6wQabG/THXtX4OCtg7eUWcLxZNFGbd/uN+14dqaK9hJgomybtUmpXA1MmD8ivrx10zJobNjQ
        42DPyGncd+eh3HoriPu4wRaXX11B78loHu855FvJekdKxcGYnFoWcFqqiSLIp0fNZWfF/xJgG37QbQ+oEJYpTo+IsAWbiO0XHoIO
        4+1a+MZeZ7LiBTnMQU6l+p6XSo8=
        """,
        "pending": """
        U0VHVUUtVkFVTFQtMQolN6YqSnIUeC3+GaaQ9wzsF0z4btJstPIEgF/JtCuYpH917VWvUyAIpQTGdBahCoUwlAc1m+Zun9gY6fLi
        OWQ6KR4l6fUUbNWPJzP5GNWFv04pA8Z8WvMUbEL8zwhX0G0WiFw8saFwNqj3+Psf84XLAYFQql6HnrM5NsyfzmI8S8CaVBoLdUfA
        Ndc02oeLdWiBTxZTIomnmkbDraMiwBjHdxwdkx9ELn4vhdVts5+I+pHEgjGkizBVmd8e1MG/0E86dW+KcVEYTvseKQiGqtUBEqpW
        9VaV4/1aK1qY5lLUjdimNocbR4xVUC348yeMuxELXYKPWUltRfjdyg0X0slV+R5uSzIOpnLEMQacJCgR404v0c0YJSBYMvxapilv
        k7insVSbZiFkCCdwfm4C/V9QD4g3NbY/Pk1ZwDI9DzQiUakTji0MLF8U1WZlH90h8BGoGIQfVFvbKZzOPxHkWYk=
        """,
    ]

    @Test("A vault that was sealed with swift-crypto opens, and can be written")
    func swiftCrypto() async throws {
        let scratch = try ScratchVault()
        try FileManager.default.createDirectory(
            atPath: scratch.vault, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        for (name, content) in files {
            try scratch.write(try #require(Data(base64Encoded: content, options: .ignoreUnknownCharacters)), to: name)
        }

        let vault = try await TokenVault.open(directory: scratch.vault)
        // The only account of that version belongs to the session `default` from now on.
        #expect(try await vault.load() == StoredTokens(generation: 2, tokens: .fixture(2)))
        #expect(try await vault.load(of: "anna") == .none)
        let pending = try #require(try await vault.pending().first)
        #expect(pending.state == "state-secret")
        #expect(pending.verifier.value == "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        #expect(pending.cause.id == "cause-1")

        #expect(try await vault.save(.fixture(3)).generation == 3)
        #expect(try await vault.save(.fixture(1), of: "anna").generation == 1)
        #expect(try await TokenVaultReader(directory: scratch.vault).read().tokens == .fixture(3))
        try await vault.changePending { $0.append(.fixture("anna")) }
        #expect(try await vault.pending().map(\.session) == [Session.default, "anna"])
    }
}
