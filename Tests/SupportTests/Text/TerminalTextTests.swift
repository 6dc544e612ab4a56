import Support
import Testing

@Suite("Text for a terminal")
struct TerminalTextTests {
    private static let hostile = "a\u{1B}]0;T\u{7}b\u{9B}31m\u{7F}\u{202E}c\u{2066}\u{200F}\u{FEFF}\rd\u{8}"

    @Test("The text has control characters only from the program's literals")
    func interpolation() {
        let text: TerminalText = "\u{1B}[1m\(Self.hostile)\u{1B}[0m"
        let escaped = #"a\u001b]0;T\u0007b\u009b31m\u007f\u202ec\u2066\u200f\ufeff d\u0008"#
        #expect(text.description == "\u{1B}[1m\(escaped)\u{1B}[0m")
        #expect(Self.hostile.printable == escaped && escaped.printable == escaped)
        let nested: TerminalText = "\u{1B}[2K\(text)\(1)"
        #expect(nested.description == "\u{1B}[2K\(text.description)1")
    }

    @Test("The text keeps line feeds and tabs if it may have several lines, and otherwise none")
    func lines() {
        // A literal itself would be a literal of the program.
        let text = "a\n\tb\r\nc\u{2028}d"
        #expect(TerminalText(text).description == "a\n\tb\\u000d\nc\\u2028d")
        #expect("a\n\tb\r\nc\u{2028}d\u{85}".printable == #"a  b  c d\u0085"#)
    }

    @Test(
        "The text keeps letters of every script, emoji and combining marks",
        arguments: ["", "é e\u{301} 日本 👩‍👩‍👧 می\u{200C}خواهم"])
    func letters(text: String) {
        #expect(text.printable == text && TerminalText(text).description == text)
    }

    @Test(
        "A coloured line keeps its colours, which end with it, and no other sequence",
        arguments: [
            ("\u{1B}[1;31mred\u{1B}[0m", "\u{1B}[1;31mred\u{1B}[0m\u{1B}[0m", "red"),
            ("\u{1B}[m", "\u{1B}[m\u{1B}[0m", ""), ("\u{1B}[2Jx", #"\u001b[2Jx"#, #"\u001b[2Jx"#),
            ("\u{1B}[31", #"\u001b[31"#, #"\u001b[31"#), ("\u{1B}", #"\u001b"#, #"\u001b"#),
            ("\u{1B}\u{1B}[3m", "\\u001b\u{1B}[3m\u{1B}[0m", #"\u001b"#),
            ("\u{1B}]8;;x\u{7}", #"\u001b]8;;x\u0007"#, #"\u001b]8;;x\u0007"#), ("plain", "plain", "plain"),
            ("\u{1B}[?31m", #"\u001b[?31m"#, #"\u001b[?31m"#),
        ])
    func colours(line: String, colored: String, plain: String) {
        #expect(TerminalText(coloredLine: line, isColored: true).description == colored)
        #expect(TerminalText(coloredLine: line, isColored: false).description == plain)
    }
}
