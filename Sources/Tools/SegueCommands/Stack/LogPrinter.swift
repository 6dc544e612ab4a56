internal import Compose
internal import EventBus
internal import Monitor

/// Writes the lines of several services to standard output, each behind the name of its service.
struct LogPrinter: Sendable {
    struct Style: Sendable {
        var hasTime = false
        var hasPrefix = true
        /// Where the console has any.
        var hasColor = true
        var isJSON = false
    }

    private static let colors: [TextStyle] = [.cyan, .yellow, .green, .magenta, .blue]

    private let services: [String]
    private let width: Int
    private let style: Style
    private let console: Console
    private let isColored: Bool

    /// - Parameter services: those whose lines may come, in the order of their colours.
    init(services: [String], style: Style = Style(), to console: Console = .output) {
        self.services = services
        self.style = style
        self.console = console
        width = services.map(\.count).max() ?? 0
        isColored = style.hasColor && console.isColored
    }

    func show(_ line: LogLine) async throws {
        try await console.writeLine(style.isJSON ? JSONLine.text(LogObject(line)) : text(line))
    }

    private func text(_ line: LogLine) -> String {
        let time = style.hasTime ? "\(Timestamp.text(of: line.timestamp)) " : ""
        return (style.hasPrefix ? prefix(line.service) + " " : "") + time + line.text
    }

    private func prefix(_ service: String) -> String {
        let text = "\(service.padding(to: width)) |"
        guard isColored else { return text }
        let index = services.firstIndex(of: service) ?? services.count
        return Self.colors[index % Self.colors.count].applied(to: text)
    }
}
