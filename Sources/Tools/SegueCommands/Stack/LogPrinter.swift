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
    /// The log whose line is not ended. Its next part goes on there, unless another one's line comes between.
    private var open: Log?

    private struct Log: Equatable {
        let service: String
        let stream: LogLine.Stream
    }

    /// - Parameter services: those whose lines may come, in the order of their colours.
    init(services: [String], style: Style = Style(), to console: Console = .output) {
        self.services = services
        self.style = style
        self.console = console
        width = services.map(\.count).max() ?? 0
        isColored = style.hasColor && console.isColored
    }

    /// Soon: `flush()` of the console has to follow before the process ends.
    mutating func show(_ line: LogLine) async throws {
        try await console.append((style.isJSON ? JSONLine.text(LogObject(line)) + "\n" : text(line)).utf8)
    }

    /// Ends a line whose last part has not come.
    mutating func end() async throws {
        if open != nil { try await console.append("\n".utf8) }
        open = nil
    }

    private mutating func text(_ line: LogLine) -> String {
        let log = Log(service: line.service, stream: line.stream)
        let head = open == log ? "" : (open == nil ? "" : "\n") + head(of: line)
        open = line.continues ? log : nil
        return head + line.text + (line.continues ? "" : "\n")
    }

    private func head(of line: LogLine) -> String {
        (style.hasPrefix ? prefix(line.service) + " " : "")
            + (style.hasTime ? "\(Timestamp.text(of: line.timestamp)) " : "")
    }

    private func prefix(_ service: String) -> String {
        let text = "\(service.padding(to: width)) |"
        guard isColored else { return text }
        let index = services.firstIndex(of: service) ?? services.count
        return Self.colors[index % Self.colors.count].applied(to: text)
    }
}
