internal import EventBus
internal import Monitor

/// Messages for a person: a line each, cut to the width of the terminal, or all that there is.
struct TerminalFormat: MessageFormat {
    let verbose: Bool
    let isColored: Bool
    let output: Console
    private let pretty = PrettyFormat()

    init(verbose: Bool, isColored: Bool, output: Console) {
        self.verbose = verbose
        self.isColored = isColored
        self.output = output
    }

    func write(_ message: Envelope, to lines: inout [UInt8]) {
        // Asked each time: the window may have been made wider.
        let columns = verbose ? nil : output.columns
        for line in [pretty.line(message)] + (verbose ? pretty.details(message) : []) {
            lines.append(contentsOf: line.rendered(isColored: isColored, columns: columns).utf8)
            lines.append(UInt8(ascii: "\n"))
        }
    }
}
