/// What a terminal obeys: ECMA-48, and of xterm the alternate screen.
enum TerminalCode {
    static let home = "\u{1B}[H"
    static let clearLine = "\u{1B}[K"
    static let clearBelow = "\u{1B}[J"
    static let beginScreen = "\u{1B}[?1049h\u{1B}[?25l"
    static let endScreen = "\u{1B}[?25h\u{1B}[?1049l"

    static func up(_ lines: Int) -> String { "\u{1B}[\(lines)A" }
}
