import Foundation
import SignIn
import Sodium
import TestSupport
import Testing

@Suite("Folder of a page")
struct PageFolderTests {
    private func mode(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test("The key is made once, for its owner only, even by several processes at the same time")
    func key() async throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let folder = PageFolder(scratch.path("web"))
        #expect(try folder.key() == nil)
        let keys = try await withThrowingTaskGroup(of: Data.self) { group in
            for _ in 0..<8 { group.addTask { try folder.makeKey().bytes } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(keys.count == 1)
        #expect(try folder.key()?.bytes == keys.first)
        #expect(try mode(scratch.path("web/key")) == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path("web")) == ["key"])
    }

    @Test("A key that others can read, or that is damaged, is refused")
    func unusable() throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let folder = PageFolder(scratch.path)
        _ = try folder.makeKey()
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: scratch.path("key"))
        #expect(throws: PageFolderError.self) { try folder.key() }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: scratch.path("key"))
        try Data("short".utf8).write(to: scratch.url.appending(path: "key"))
        #expect(throws: PageFolderError.self) { try folder.makeKey() }
    }

    @Test("A folder that others can enter is refused, even if it has a key", arguments: [false, true])
    func openFolder(hasKey: Bool) throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let folder = PageFolder(scratch.path)
        if hasKey { _ = try folder.makeKey() }
        try FileManager.default.setAttributes([.posixPermissions: 0o711], ofItemAtPath: folder.path)
        let error = #expect(throws: PageFolderError.self) { try folder.makeKey() }
        #expect(error.map { "\($0)".contains("\(folder.path) is not a folder that only you can enter") } == true)
    }

    @Test("The file with the link is for its owner only")
    func link() throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let folder = PageFolder(scratch.path)
        let address = PageFolder.Address(url: "http://127.0.0.1:1234", stack: "shop", pid: getpid())
        #expect(throws: PageFolderError.self) { try folder.writeLink(to: address, for: .operator) }
        let key = try folder.makeKey()
        try folder.store(address)
        #expect(folder.address() == address)
        let file = try folder.writeLink(to: address, for: .operator)
        #expect(try mode(file) == 0o600)
        let page = try String(contentsOfFile: file, encoding: .utf8)
        let link = try #require(page.firstMatch(of: #/url=http://127.0.0.1:1234/sign-in\?link=([^"]+)"/#))
        let token = SignedToken(
            String(link.1), for: .link, stack: "shop", key: key, lifetime: SignedToken.linkLifetime)
        #expect(token?.access == .operator)
        #expect(try folder.signInURL(at: address, for: .operator).hasPrefix("http://127.0.0.1:1234/sign-in?link="))
    }

    @Test("The file with the link to a session names the session, and is not an operator's file")
    func sessionLink() throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let folder = PageFolder(scratch.path)
        let address = PageFolder.Address(url: "http://127.0.0.1:1234", stack: "shop", pid: getpid())
        let key = try folder.makeKey()
        let names = ["anna", "<b>/../ü"]
        let files = try names.map { try folder.writeLink(to: address, for: .session($0)) }
        #expect(Set(files + [try folder.writeLink(to: address, for: .operator)]).count == 3)
        for (name, file) in zip(names, files) {
            #expect(try mode(file) == 0o600)
            let page = try String(contentsOfFile: file, encoding: .utf8)
            #expect(page.contains("the session '\(name.replacing("<", with: "&lt;").replacing(">", with: "&gt;"))'"))
            let link = try #require(page.firstMatch(of: #/sign-in\?link=([A-Za-z0-9._-]+)"/#))
            let token = SignedToken(
                String(link.1), for: .link, stack: "shop", key: key, lifetime: SignedToken.linkLifetime)
            #expect(token?.access == .session(name))
        }
    }
}
