internal import Monitor

/// Shows statistics again and again.
actor StatisticsDisplay {
    enum Style {
        /// One below the other, for a file or a pipe.
        case tables
        /// One JSON object a line, for a program.
        case json
        /// Where the one before stood in the terminal.
        case inPlace
        /// From the top of the screen.
        case screen
    }

    private let style: Style
    private let output: Console
    /// How many lines the one before has.
    private var shown = 0
    private var last: StatisticsReport?

    init(_ style: Style, output: Console = .output) {
        self.style = style
        self.output = output
    }

    func show(_ report: StatisticsReport) async throws {
        last = report
        switch style {
        case .json: try await output.writeLine(JSONLine.text(report))
        case .tables:
            let lines = (shown > 0 ? [""] : []) + StatisticsTable(report: report).lines
            shown = lines.count
            try await output.writeLine(lines.joined(separator: "\n"))
        case .inPlace: try await draw(report, from: shown > 0 ? TerminalCode.up(shown) : "")
        case .screen: try await draw(report, from: TerminalCode.home)
        }
    }

    /// Shows again what was shown last.
    func redraw() async throws {
        if let last { try await show(last) }
    }

    private func draw(_ report: StatisticsReport, from start: String) async throws {
        let columns = output.columns
        let lines = output.fitting(StatisticsTable(report: report).lines)
        shown = lines.count
        let text = lines.enumerated().map { index, line in
            var text = StyledText()
            text.append(line, index == 0 ? .bold : nil)
            return text.rendered(isColored: output.isColored, columns: columns) + TerminalCode.clearLine + "\n"
        }
        try await output.write(start + text.joined() + TerminalCode.clearBelow)
    }
}
