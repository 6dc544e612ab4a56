/// Draws on a terminal by redrawing it, on anything else by writing one screen after the other.
struct Painter {
    private static let clearScreen = "\u{1B}[H\u{1B}[2J"
    /// As many notes as are kept under the screen.
    private static let noteLimit = 3

    /// Shown while there is no screen.
    var waiting: String
    private var notes: [String] = []
    private var lastLines: [String] = []

    init(waiting: String) {
        self.waiting = waiting
    }

    /// - Parameter size: of the terminal; nil for anything else.
    /// - Returns: what to write; empty if that is there already.
    mutating func drawing(of screen: TerminalScreen?, size: TerminalSize?) -> String {
        guard var size else {
            let lines = screen?.lines() ?? []
            defer { lastLines = lines }
            return lines.isEmpty || lines == lastLines ? "" : lines.joined(separator: "\n") + "\n\n"
        }
        // The prompt takes a line, too.
        size.rows -= notes.count + 1
        let lines = screen?.lines(fitting: size) ?? [waiting]
        let shownNotes = notes.map { $0.truncated(to: size.columns) }
        return Self.clearScreen + (lines + shownNotes).joined(separator: "\n") + "\n> "
    }

    /// - Returns: what to write: the note, or all that is on the terminal with the note.
    mutating func note(_ text: String, on screen: TerminalScreen?, size: TerminalSize?) -> String {
        guard size != nil else { return text.printable + "\n" }
        notes = (notes + [text.printable]).suffix(Self.noteLimit)
        return drawing(of: screen, size: size)
    }
}
