import Foundation
import TestSupport
import Testing

@testable import Opening

@Suite("URL opener")
struct URLOpenerTests {
    @Test("The command is run with the URL as its last argument")
    func opens() async throws {
        let opener = try #require(URLOpener(command: "test https://a.b/c?d=e&f ="))
        #expect(await opener.open("https://a.b/c?d=e&f") == nil)
        #expect(await opener.open("https://a.b/other")?.hasPrefix("test could not open the URL: exited(1)") == true)
    }

    @Test("A command that cannot be run is reported")
    func missing() async throws {
        let opener = try #require(URLOpener(command: "no-such-browser"))
        #expect(await opener.open("https://a.b")?.hasPrefix("no-such-browser cannot be run") == true)
        #expect(URLOpener(command: " ") == nil)
    }

    @Test("The command is the first of BROWSER that is installed, otherwise xdg-open")
    func preferred() async throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let folder = scratch.path
        func opener(_ browser: String) -> URLOpener? {
            .preferred(in: ["BROWSER": browser, "PATH": ":\(folder):/usr/bin:/bin"])
        }
        let url = "https://a.b/$(true)"
        #expect(try await #require(opener("nowhere:/no/such/browser:test x !=")).open(url) == nil)
        // %s is replaced with the URL. No shell interprets it.
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
        "A URL that would be read as a file or as an option is not opened",
        arguments: ["file:///etc/passwd", "-o/tmp/x", "", "a b"])
    func refused(url: String) async throws {
        let opener = try #require(URLOpener(command: "true"))
        #expect(await opener.open(url)?.hasPrefix("The URL was not opened") == true)
    }

    @Test(
        "A script's command ends when the script is cancelled, and a user's browser continues",
        .timeLimit(.minutes(1)))
    func cancelled() async throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let folder = scratch.path
        // The browser writes its process id, and keeps the other pipe open while it runs.
        let browser = "\(folder)/browser"
        try "#!/bin/sh\nexec 3> \(folder)/running\necho $$ > \(folder)/started\nexec sleep 60\n".write(
            toFile: browser, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: browser)
        for name in ["started", "running"] { try #require(mkfifo("\(folder)/\(name)", 0o600) == 0) }
        let opener = try #require(URLOpener(command: browser))
        for isScript in [true, false] {
            async let end = contents(of: "\(folder)/running")
            let opening = Task {
                isScript ? await opener.open("https://a.b") : await opener.launch("https://a.b")
            }
            let started = try await contents(of: "\(folder)/started")
            let pid = try #require(pid_t(started.trimmingCharacters(in: .whitespacesAndNewlines)))
            opening.cancel()
            #expect(await (opening.value == nil) == !isScript)
            if !isScript {
                #expect(kill(pid, 0) == 0)
                kill(pid, SIGKILL)
            }
            #expect(try await end == "")
        }
    }

    /// Reads a pipe to its end, in a thread that it may block.
    private func contents(of pipe: String) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        let data = try FileHandle(forReadingFrom: URL(filePath: pipe)).readToEnd() ?? Data()
                        return String(decoding: data, as: UTF8.self)
                    })
            }
        }
    }
}
