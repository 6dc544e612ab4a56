import Testing

@testable import Compose

@Suite("Text of unit files")
struct SystemdTextTests {
    @Test(
        "An argument means itself",
        arguments: [
            ("plain/path-1.0_x:y,z@w=v+u", "plain/path-1.0_x:y,z@w=v+u"), ("", "\"\""), ("a b", "\"a b\""),
            ("100%", "100%%"), ("$HOME", "$$HOME"), ("${A} b", "\"$${A} b\""), (";", "\";\""), ("'", "\"'\""),
            ("a\"b\\c", #""a\"b\\c""#), ("two\nlines\t\u{1}", #""two\nlines\t\x01""#), ("größe", "\"größe\""),
        ])
    func argument(text: String, expected: String) {
        #expect(SystemdText.argument(text) == expected)
        #expect(UnitLine.words(expected).map { $0.replacing("$$", with: "$") } == [text])
    }

    @Test("A variable's value is what a shell reads, too", arguments: ["", "a b", "a\"b$c `d` \\ %h\nx'y", "#;=", "ß"])
    func assignment(value: String) throws {
        let scratch = try Scratch()
        let path = try scratch.write(SystemdText.assignment("V", value) + "\n", to: "e")
        let output = try Shell.run("set -a; . \"$0\"; printf '%s' \"$V\"", path)
        #expect(output == value)
    }

    @Test("No time at all is not endless")
    func timeout() {
        #expect(SystemdText.timeout(.zero) == "1ms")
        #expect(SystemdText.timeout(.milliseconds(1500)) == "1s500ms")
    }
}
