internal import ArgumentParser
internal import Contracts
internal import EventBus
internal import Foundation
internal import Monitor
internal import Navigation
internal import Support

/// The option that sets the interval of statistics.
struct StatisticsOptions: ParsableArguments, Sendable {
    @Option(
        name: .customLong("interval"),
        help: ArgumentHelp("The time between two updates, such as 500ms. (default: 1s)", valueName: "duration"),
        transform: Duration.argument)
    var givenInterval: Duration?

    var interval: Duration { givenInterval ?? .seconds(1) }
}

/// Counts the messages of a monitor, and displays the statistics after each interval.
struct StatisticsRun: Sendable {
    let bus: EventBus
    let monitor: Monitor
    let interval: Duration
    /// True to end after one interval.
    let isOnce: Bool
    let display: any StatisticsView
    /// Called with each message after it was counted.
    var onMessage: @Sendable (Envelope) -> Void = { _ in }

    /// The time between two requests for the metrics of the processes.
    private static let metricsInterval: Duration = .seconds(1)

    private var presences: MessageFilter { .type(Document.Presence.self) }

    /// Runs until the monitor ends or the task is cancelled, and then displays the totals. If `isOnce` is true, runs
    /// for at most one interval and displays no totals.
    /// - Throws: the errors of the monitor; `CancellationError`.
    func run() async throws {
        let board = StatisticsBoard()
        let result: Result<Void, any Error>
        do {
            result = .success(try await count(on: board))
        } catch {
            result = .failure(error)
        }
        if !isOnce { try await display.show(board.summary()) }
        try result.get()
    }

    private func count(on board: StatisticsBoard) async throws {
        // The services are read before the first update.
        for document in try await bus.documents(matching: [presences]) { board.apply(presence: document) }
        let requests = MetricsRequests(bus: bus)
        try await bus.withSubscription(to: [presences, MetricsRequests.reports], from: .retained) { messages in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for try await message in messages {
                        if message.kind == .document {
                            board.apply(presence: message)
                        } else {
                            requests.handle(message)
                        }
                    }
                }
                group.addTask {
                    try await monitor.run {
                        board.record($0)
                        onMessage($0)
                    } tell: {
                        board.record($0)
                    }
                    // For the totals.
                    board.apply(metrics: try await requests.ask(board.instances))
                }
                group.addTask { try await showReports(of: board) }
                group.addTask {
                    while true {
                        board.apply(metrics: try await requests.ask(board.instances))
                        try await Task.sleep(for: Self.metricsInterval)
                    }
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    private func showReports(of board: StatisticsBoard) async throws {
        repeat {
            try await Task.sleep(for: interval)
            try await display.show(board.report())
        } while !isOnce
    }
}

/// A view that shows the newest statistics.
protocol StatisticsView: Sendable {
    func show(_ report: StatisticsReport) async throws
}

/// Writes statistics repeatedly.
actor StatisticsDisplay: StatisticsView {
    enum Style {
        /// Tables one after another, for a file or a pipe.
        case tables
        /// One JSON object per line, for a program.
        case json
        /// A table that replaces the previous table in the terminal.
        case inPlace
    }

    private let style: Style
    private let output: Console
    /// The number of lines of the last table; 0 before the first table.
    private var shown = 0

    init(_ style: Style, output: Console = .output) {
        self.style = style
        self.output = output
    }

    func show(_ report: StatisticsReport) async throws {
        switch style {
        case .json: try await output.writeLine(JSONValue(encoding: report).description)
        case .tables:
            let lines = (shown > 0 ? [""] : []) + StatisticsTable(report: report).lines
            shown = lines.count
            try await output.writeLine(lines.joined(separator: "\n"))
        case .inPlace: try await draw(report, from: shown > 0 ? TerminalCode.up(shown) : "")
        }
    }

    private func draw(_ report: StatisticsReport, from start: TerminalText) async throws {
        let rows = StatisticsTable(report: report).lines.enumerated().map { index, line in
            var text = StyledText()
            text.append(line, index == 0 ? .bold : nil)
            return text.rendered(isColored: output.isColored, columns: output.columns)
        }
        let lines = output.fitting(rows)
        shown = lines.count
        let drawn = lines.map { $0 + TerminalCode.clearLine + "\n" }.joined()
        try await output.draw(start + drawn + TerminalCode.clearBelow)
    }
}

/// Statistics as tables for people.
struct StatisticsTable {
    let report: StatisticsReport

    var lines: [String] {
        var lines = types.lines
        if !report.services.isEmpty { lines += [""] + Table(of: report.services, numbersFrom: 1).lines }
        if let discarded { lines += ["", discarded] }
        return lines
    }

    /// Nil if no message was discarded.
    var discarded: String? { report.discarded > 0 ? "messages discarded: \(report.discarded)" : nil }

    var types: Table { Table(of: report.types, numbersFrom: 1) }

    /// A number with one decimal and a factor: `12.3k` for 12,300; also `M` and `G`.
    static func short(_ number: Double) -> String {
        for (unit, sign) in [(1e9, "G"), (1e6, "M"), (1e3, "k")] where number >= unit {
            return oneDigit(number / unit) + sign
        }
        return oneDigit(number)
    }

    static func time(_ milliseconds: Double?) -> String {
        milliseconds.map { Duration.milliseconds($0).tableText } ?? "-"
    }

    private static func oneDigit(_ number: Double) -> String {
        "\((number * 10).rounded() / 10)"
    }
}

extension StatisticsReport.OfType: ListRow {
    static var columns: [Column<Self>] {
        [
            Column(name: "TYPE", cell: \.type),
            Column(name: "COUNT") { "\($0.count)" },
            Column(name: "MSG/S") { StatisticsTable.short($0.rate) },
            Column(name: "BYTES/S") { StatisticsTable.short($0.bytesPerSecond) },
            Column(name: "P50") { StatisticsTable.time($0.p50) },
            Column(name: "P99") { StatisticsTable.time($0.p99) },
            Column(name: "GAPS") { "\($0.recovered)" },
            Column(name: "REMOVED") { $0.removedThrough.map { "to \($0)" } ?? "-" },
        ]
    }
}

extension StatisticsReport.OfService: ListRow {
    static var columns: [Column<Self>] {
        [
            Column(name: "SERVICE") { "\($0.service)/\($0.instance)" },
            Column(name: "HANDLED") { FigureText.of($0.handled) },
            Column(name: "FAILED") { FigureText.of($0.failed) },
            Column(name: "LAG") { FigureText.of(lag: $0.lag) },
        ]
    }
}
