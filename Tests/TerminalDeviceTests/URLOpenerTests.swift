import Foundation
import Testing

@testable import TerminalDevice

@Suite("URL opener")
struct URLOpenerTests {
    @Test("runs the command with the URL as its last argument")
    func opens() async throws {
        let opener = try #require(URLOpener(command: "test https://a.b/c?d=e&f ="))
        #expect(await opener.open("https://a.b/c?d=e&f") == nil)
        #expect(await opener.open("https://a.b/other")?.hasPrefix("test could not open that: exited(1)") == true)
    }

    @Test("says what cannot be run")
    func missing() async throws {
        let opener = try #require(URLOpener(command: "no-such-browser"))
        #expect(await opener.open("https://a.b")?.hasPrefix("no-such-browser cannot be run") == true)
        #expect(URLOpener(command: " ") == nil)
    }

    @Test("is the first command of BROWSER that is installed, or else xdg-open")
    func preferred() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "opener-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        func opener(_ browser: String) -> URLOpener? {
            .preferred(in: ["BROWSER": browser, "PATH": ":\(folder):/usr/bin:/bin"])
        }
        let url = "https://a.b/$(true)"
        #expect(try await #require(opener("nowhere:/no/such/browser:test x !=")).open(url) == nil)
        // %s is the URL, which no shell reads.
        #expect(try await #require(opener("nowhere --:test %s != x")).launch(url) == nil)
        #expect(try await #require(opener("test %s = x")).launch(url)?.contains("exited(1)") == true)
        #expect(URLOpener.preferred(in: ["BROWSER": "nowhere", "PATH": folder]) == nil)
        #expect(URLOpener.preferred(in: [:]) == nil)
        let file = "\(folder)/xdg-open"
        try "#!/bin/sh\n".write(toFile: file, atomically: true, encoding: .utf8)
        #expect(URLOpener.preferred(in: ["PATH": folder]) == nil, "it is not executable")
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: file)
        #expect(URLOpener.preferred(in: ["PATH": folder]) != nil)
    }

    @Test(
        "leaves closed what would be read as a file or as an option",
        arguments: ["file:///etc/passwd", "-o/tmp/x", "", "a b"])
    func refused(url: String) async throws {
        let opener = try #require(URLOpener(command: "true"))
        #expect(await opener.open(url)?.hasPrefix("That was not opened") == true)
    }
}
