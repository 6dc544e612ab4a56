/// Draws on a terminal by redrawing it, on anything else by writing one screen after the other.
struct Painter {
    private static let clearScreen = "\u{1B}[H\u{1B}[2J"
    /// As many notes as are kept under the screen.
    private static let noteLimit = 3
    /// A note may quote a message, of any length.
    private static let noteLengthLimit = 10_000

    /// Shown while there is no screen.
    var waiting: String
    private var notes: [String] = []
    private var lastLines: [String] = []

    init(waiting: String) {
        self.waiting = waiting
    }

    /// - Parameters:
    ///   - url: what this device was asked to open last, if a person may still want to.
    ///   - size: of the terminal; nil for anything else, where URLs are written when they are requested.
    /// - Returns: what to write; empty if that is there already.
    mutating func drawing(of screen: TerminalScreen?, url: OpenableURL?, size: TerminalSize?) -> String {
        guard var size else {
            let lines = screen?.lines() ?? []
            defer { lastLines = lines }
            return lines.isEmpty || lines == lastLines ? "" : lines.joined(separator: "\n") + "\n\n"
        }
        let below = (url.map { [Line("Open", $0)] } ?? []) + notes.map { Line($0) }
        let belowLines = below.flatMap { $0.wrapped(to: size.columns) }
        // The prompt takes a line, too.
        size.rows -= belowLines.count + 1
        let lines = screen?.drawnLines(fitting: size) ?? [Line(waiting)]
        return Self.clearScreen + (lines + belowLines).map(\.hyperlinked).joined(separator: "\n") + "\n> "
    }

    /// - Returns: what to write: the note, or all that is on the terminal with the note.
    mutating func note(_ text: String, on screen: TerminalScreen?, url: OpenableURL?, size: TerminalSize?) -> String {
        guard size != nil else { return text.printable + "\n" }
        notes = (notes + [String(text.prefix(Self.noteLengthLimit))]).suffix(Self.noteLimit)
        return drawing(of: screen, url: url, size: size)
    }
}
