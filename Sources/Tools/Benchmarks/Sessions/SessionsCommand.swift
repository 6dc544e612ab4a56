package import ArgumentParser
internal import Foundation

/// Measures coordinators that share many sessions, for `segue bench sessions`.
package struct SessionsCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "sessions", abstract: "Measures coordinators that share many sessions.",
        discussion: """
            Publishes the states of the sessions, sends taps to random sessions at a fixed rate, and then kills a \
            coordinator. docs/performance.md describes the figures.
            """)

    @Option(help: "The number of sessions.")
    var count = 1000

    @Option(help: "The number of coordinators.")
    var coordinators = 2

    @Option(
        name: .customLong("live-sessions"),
        help: "The maximum number of sessions in the memory of a coordinator. (default: the coordinator's own)")
    var liveSessions: Int?

    @Option(help: "The number of taps per second.")
    var rate = 200

    @Option(help: "The number of seconds for which taps are sent.")
    var seconds = 60

    @OptionGroup var bus: MeasuredBusOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    package init() {}

    package func validate() throws {
        let numbers = [
            ("count", count, 1...10_000_000), ("coordinators", coordinators, 2...64),
            ("live-sessions", liveSessions ?? 1, 1...10_000_000), ("rate", rate, 1...100_000),
            ("seconds", seconds, 1...86_400),
        ]
        for (name, value, range) in numbers where !range.contains(value) {
            throw ValidationError("--\(name) is \(value); it must be \(range.lowerBound) to \(range.upperBound)")
        }
    }

    /// - Throws: ``BenchmarkError`` if the measurement fails or a state differs from a replay, and `ExitCode` with 128
    ///   plus the signal's number if a signal ended the measurement.
    package func run() async throws {
        try await BenchmarkOutput.whileRunning {
            let options = SessionScale.Options(
                count: count, coordinators: coordinators, liveSessions: liveSessions, rate: rate,
                duration: .seconds(seconds), durability: bus.durability, bus: bus.kind)
            let report = try await Scratch.with { try await SessionScale(options, $0).measure() }
            try await BenchmarkOutput.write(json ? BenchmarkOutput.line(report) : Self.table(report))
            guard report.differing == 0 else {
                throw BenchmarkError("the states of \(report.differing) sessions differ from a replay of the journal")
            }
        }
    }

    private static func table(_ report: SessionReport) -> String {
        func number(_ value: Double, _ unit: String) -> String { String(format: "%.2f ", value) + unit }
        func mebibytes(_ bytes: Int) -> String { String(format: "%.0f MiB", Double(bytes) / 1_048_576) }
        let rows = [
            ("sessions", "\(report.sessions)"),
            ("bus", report.replicas == 1 ? report.bus : "\(report.bus), \(report.replicas) servers"),
            ("coordinators", "\(report.coordinators)"),
            ("live sessions", report.liveSessions.map { "\($0)" } ?? "default"),
            ("taps", "\(report.taps), \(report.rate) per second"),
            ("processor time of a tap, coordinators", number(report.coordinatorTime, "ms")),
            ("processor time of a tap, broker", number(report.brokerTime, "ms")),
            ("from a tap to its answer, median", number(report.median, "ms")),
            ("from a tap to its answer, p99", number(report.percentile99, "ms")),
            ("peak memory, coordinators", report.coordinatorMemory.map(mebibytes).joined(separator: ", ")),
            ("peak memory, broker", mebibytes(report.brokerMemory)),
            ("journal", mebibytes(report.journalSize)),
            ("until all partitions answer after a kill", number(report.takeover, "s")),
            ("states that differ from a replay", "\(report.differing)"),
        ]
        let width = rows.map(\.0.count).max() ?? 0
        return rows.map { "\($0.padding(toLength: width, withPad: " ", startingAt: 0))  \($1)\n" }.joined()
    }
}
