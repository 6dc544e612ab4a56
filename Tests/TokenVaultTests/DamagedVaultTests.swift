import Authorization
import Foundation
import Testing
import TokenVault

@Suite("Damaged vault")
struct DamagedVaultTests {
    let scratch: ScratchVault

    init() throws {
        scratch = try ScratchVault()
    }

    /// Stores tokens in a vault and closes it.
    func fill() async throws {
        let vault = try await TokenVault.open(directory: scratch.vault)
        try await vault.save(.fixture())
        try await vault.replacePending(with: [.fixture()])
    }

    /// Reads the vault and returns the error; the test fails if there is none, or if the error hides that it names a
    /// file.
    func readError() async throws -> TokenStoreError? {
        let error = await #expect(throws: TokenStoreError.self) {
            try await TokenVaultReader(directory: scratch.vault).read()
        }
        if let error { #expect(error.namesFile == error.description.contains(scratch.vault)) }
        return error
    }

    @Test("A single flipped bit anywhere is found")
    func flippedBits() async throws {
        try await fill()
        let good = try scratch.content("tokens")
        for index in stride(from: 0, to: good.count, by: 7) {
            var bad = good
            bad[index] ^= 1
            try scratch.write(bad, to: "tokens")
            #expect(try await readError()?.code == "vault.corrupt")
        }
        try scratch.write(good, to: "tokens")
        #expect(try await TokenVaultReader(directory: scratch.vault).read().tokens == .fixture())
    }

    @Test("A file that is cut, empty or foreign is one clear error with its path", arguments: [0, 5, 14, 30])
    func truncated(length: Int) async throws {
        try await fill()
        try scratch.write(scratch.content("tokens").prefix(length), to: "tokens")
        let error = try await readError()
        #expect(error?.code == "vault.corrupt")
        #expect(error?.message.contains(scratch.file("tokens")) == true)
        #expect(error?.description.contains("secret") == false)
    }

    @Test("One file of the vault cannot replace the other, although the key fits")
    func swapped() async throws {
        try await fill()
        try scratch.write(scratch.content("pending"), to: "tokens")
        #expect(try await readError()?.code == "vault.corrupt")
    }

    @Test("A file that another vault sealed is refused")
    func foreign() async throws {
        try await fill()
        let other = try ScratchVault()
        try await TokenVault.open(directory: other.vault).save(.fixture(9))
        try scratch.write(other.content("tokens"), to: "tokens")
        #expect(try await readError()?.code == "vault.corrupt")
    }

    @Test("A huge file is refused without being read")
    func huge() async throws {
        try await fill()
        try scratch.write(Data(count: 2 << 20), to: "tokens")
        #expect(try await readError()?.code == "vault.corrupt")
    }

    @Test("A missing or damaged key has its own error")
    func key() async throws {
        try await fill()
        try scratch.write(Data("short".utf8), to: "key")
        #expect(try await readError()?.code == "vault.key")
        try FileManager.default.removeItem(atPath: scratch.file("key"))
        #expect(try await readError()?.code == "vault.key")
    }

    @Test("Files and directories that others can read are refused, with the command that helps")
    func exposed() async throws {
        try await fill()
        try scratch.setMode(0o640, of: "key")
        #expect(try await readError()?.code == "vault.exposed")
        try scratch.setMode(0o600, of: "key")
        try scratch.setMode(0o604, of: "tokens")
        #expect(try await readError()?.recovery.contains("chmod 600 \(scratch.file("tokens"))") == true)
        try scratch.setMode(0o755, of: "")
        await #expect(throws: TokenStoreError.self) { try await TokenVault.open(directory: scratch.vault) }
    }

    @Test("A symbolic link is not followed")
    func link() async throws {
        try await fill()
        try FileManager.default.moveItem(atPath: scratch.file("tokens"), toPath: scratch.elsewhere)
        try FileManager.default.createSymbolicLink(
            atPath: scratch.file("tokens"), withDestinationPath: scratch.elsewhere)
        #expect(try await readError()?.code == "vault.unusable")
    }

    @Test("A path that is not a directory is an error")
    func notADirectory() async throws {
        try Data().write(to: URL(filePath: scratch.vault))
        let error = await #expect(throws: TokenStoreError.self) {
            try await TokenVault.open(directory: scratch.vault)
        }
        #expect(error?.code == "vault.unusable" && error?.namesFile == true)
    }
}
