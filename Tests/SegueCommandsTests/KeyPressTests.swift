import Testing

@testable import SegueCommands

@Suite("Keys of a terminal")
struct KeyTests {
    @Test(
        "A key is a character, or a sequence of xterm or of the Linux console",
        arguments: [
            ("q", [KeyPress.character("q")]), ("\u{1B}", [.escape]), ("\u{1B}[A\u{1B}OB", [.up, .down]),
            ("\u{1B}[5~\u{1B}[6~", [.pageUp, .pageDown]),
            ("\u{1B}[H\u{1B}[F\u{1B}[1~\u{1B}[4~", [.home, .end, .home, .end]),
            ("\u{1B}[1;5A", [.up]), ("a\u{1B}[Ab", [.character("a"), .up, .character("b")]),
            ("\u{1B}\u{1B}[A", [.escape, .up]),
        ])
    func keys(text: String, keys: [KeyPress]) {
        #expect(KeyPress.keys(in: text) == keys)
    }

    @Test(
        "An unknown or incomplete sequence, or a control character, is not a key",
        arguments: ["\u{1B}[15~", "\u{1B}[", "\u{1B}[5", "\u{1B}OP", "\u{1}\u{7F}\r", ""])
    func others(text: String) {
        #expect(KeyPress.keys(in: text) == [])
    }
}
