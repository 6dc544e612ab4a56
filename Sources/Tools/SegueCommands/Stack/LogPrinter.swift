internal import Compose
internal import Monitor

/// Writes the lines of several services to standard output, each behind the name of its service.
struct LogPrinter: Sendable {
    private static let colors: [TextStyle] = [.cyan, .yellow, .green, .magenta, .blue]

    private let services: [String]
    private let hasPrefix: Bool
    private let width: Int
    private let isColored = Console.output.isColored

    /// - Parameter services: those whose lines may come, in the order of their colours.
    init(services: [String], hasPrefix: Bool = true) {
        self.services = services
        self.hasPrefix = hasPrefix
        width = services.map(\.count).max() ?? 0
    }

    func show(_ line: LogLine) async throws {
        try await Console.output.writeLine(hasPrefix ? "\(prefix(line.service)) \(line.text)" : line.text)
    }

    private func prefix(_ service: String) -> String {
        let text = "\(service.padding(to: width)) |"
        guard isColored else { return text }
        let index = services.firstIndex(of: service) ?? services.count
        return Self.colors[index % Self.colors.count].applied(to: text)
    }
}
