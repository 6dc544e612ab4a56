import Support
import Testing

@Suite("Lines of text from outside")
struct LinesTests {
    @Test(
        "A line ends at LF or CRLF, which are not part of it",
        arguments: [
            ("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\r\n", ["a"]), ("a\nb", ["a", "b"]), ("a\r\nb\r\n", ["a", "b"]),
            ("\n", [""]), ("\r\n\n", ["", ""]), ("a\n\r\nb", ["a", "", "b"]), ("a\rb\r", ["a\rb\r"]),
            ("a\r\r\nb", ["a\r", "b"]), ("a\u{2028}b\u{85}c\u{B}d\u{C}e", ["a\u{2028}b\u{85}c\u{B}d\u{C}e"]),
        ] as [(String, [String])])
    func ends(text: String, lines: [String]) {
        #expect(text.lines.map(String.init) == lines)
        #expect(text[...].lines.map(String.init) == lines)
        #expect(text.firstLine == lines.first ?? "")
        #expect(Array(text.utf8).lines.map { String(decoding: $0, as: UTF8.self) } == lines)
    }

    @Test("A combining mark after the end of a line begins the next line")
    func combiningMarks() {
        let lines = "a\n\u{301}b\r\n\u{FE0F}".lines.map { Array($0.unicodeScalars) }
        #expect(lines == [["a"], ["\u{301}", "b"], ["\u{FE0F}"]])
    }

    @Test("Text on one line has no line endings")
    func onOneLine() {
        #expect("a\r\n\u{301}b\n\nc\rd\u{85}e\u{2028}f\n".onOneLine == "a \u{301}b c d e f")
        #expect("".onOneLine.isEmpty)
    }

    @Test("Lines are counted by their endings")
    func counts() {
        let text = "a\r\nb\n\u{301}c".utf8
        #expect(text.countLines(before: text.endIndex) == 2)
        #expect(text.countLines(before: text.startIndex) == 0)
    }
}
