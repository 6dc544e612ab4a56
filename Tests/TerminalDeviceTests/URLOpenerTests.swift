import Testing

@testable import TerminalDevice

@Suite("URL opener")
struct URLOpenerTests {
    @Test("runs the command with the URL as its last argument")
    func opens() async throws {
        let opener = try #require(URLOpener(command: "test https://a.b/c?d=e&f ="))
        #expect(await opener.open("https://a.b/c?d=e&f") == nil)
        #expect(await opener.open("https://a.b/other") == "test could not open that: exited(1)")
    }

    @Test("says what cannot be run")
    func missing() async throws {
        let opener = try #require(URLOpener(command: "no-such-browser"))
        #expect(await opener.open("https://a.b")?.hasPrefix("no-such-browser cannot be run") == true)
        #expect(URLOpener(command: " ") == nil)
    }

    @Test(
        "leaves closed what would be read as a file or as an option",
        arguments: ["file:///etc/passwd", "-o/tmp/x", "", "a b"])
    func refused(url: String) async throws {
        let opener = try #require(URLOpener(command: "true"))
        #expect(await opener.open(url)?.hasPrefix("That was not opened") == true)
    }
}
