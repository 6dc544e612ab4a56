internal import ArgumentParser
internal import EventBus
internal import Foundation
internal import Monitor
internal import Navigation
internal import Support

struct RecordInfoCommand: AsyncParsableCommand, WallTimeCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Describe a recording, and check that it is complete.",
        discussion: """
            segue record info story.jsonl
            segue record info story.jsonl --json
            zcat story.jsonl.gz | segue record info -

            The output of 'segue monitor --json' is a recording, too. A complete line that is not \
            valid is reported as FILE:LINE, and the exit status is 1.
            """)

    @Argument(help: "The recording; '-' reads it from standard input.")
    var file: String

    @OptionGroup var zone: ZoneOptions

    @Flag(help: "Print a JSON object.")
    var json = false

    func run() async throws {
        let recording = try await Recording(argument: file)
        let report = RecordingReport(try await recording.summary(), file: recording.name)
        if json {
            try await Console.output.writeLine(JSONValue(encoding: report).description)
        } else {
            try await Console.output.writeLines(report.lines)
        }
        await Console.error.tell(report.problems)
        if report.hasMistakes { throw ExitCode.failure }
    }
}

/// The description of a recording that `segue record info` prints.
struct RecordingReport: Encodable {
    private let file: String
    private let state: String
    /// The `--since` of the command that recorded. Nil if the recording has no header.
    private let since: String?
    /// The time at which the recording was begun. Nil if the recording has no header.
    private let begun: String?
    /// The time of the earliest message. Nil if there are no messages.
    private let first: String?
    /// The time of the latest message. Nil if there are no messages.
    private let last: String?
    /// The time between the earliest and the latest message, in seconds.
    private let duration: Double
    private let messages: Int
    private let journals: Int
    /// The types of messages that retention removed before they were recorded, each with the offset up to which they
    /// are missing. Nil if the recording does not report this.
    private let missing: [String: UInt64]?
    private let types: [String: Int]
    private let subjects: [String: Int]
    private let sources: [String: Int]
    /// The names of coordinators in the lines.
    private let names: CoordinatorNames
    private let mistakes: [RecordingMistake]
    /// The number of the incomplete last line. Nil if the last line is complete.
    private let cutOffLine: Int?

    /// The number of invalid lines; `mistakes` contains at most 100 of them.
    private let mistakeCount: Int
    /// The number of messages in the recording's last line. Nil if the recording has no end line.
    private let expected: Int?

    private enum CodingKeys: String, CodingKey {
        case file, state, since, begun, first, last, duration, messages, journals, missing, types, subjects, sources
        case mistakes, cutOffLine
    }

    init(_ summary: RecordingSummary, file: String) {
        self.file = file
        state = summary.completeness.rawValue
        since = summary.header?.since
        begun = summary.header?.begun
        first = summary.times.map { Timestamp.text(of: $0.lowerBound) }
        last = summary.times.map { Timestamp.text(of: $0.upperBound) }
        duration = summary.duration / .seconds(1)
        messages = summary.messages
        journals = summary.journalCount
        missing = summary.missing
        types = summary.types
        subjects = summary.subjects
        sources = summary.sources
        names = summary.names
        mistakes = summary.mistakes
        mistakeCount = summary.mistakeCount
        cutOffLine = summary.cutOffLine
        expected = summary.end?.messages
    }

    var lines: [String] {
        var table = Table("recording", file)
        table.append("state", state)
        if let since, let begun { table.append("recorded", "since \(since), begun \(Self.wallTime(begun))") }
        table.append("duration", "\(duration) s" + (period.map { ", \($0)" } ?? ""))
        table.append("messages", "\(messages)" + (journals > 1 ? ", of \(journals) journals" : ""))
        table.append("missing", missingText)
        return [table.lines, counts("type", types), counts("session", subjects), counts("source", namedSources)]
            .filter { !$0.isEmpty }.joined(separator: [""]).map(\.self)
    }

    var hasMistakes: Bool { mistakeCount > 0 }

    /// The problems of the recording, one per line.
    var problems: [String] {
        var problems = mistakes.map { "\(file):\($0.line): this is not a message: \($0.reason)" }
        if mistakeCount > mistakes.count {
            problems.append("\(file): \(mistakeCount - mistakes.count) more lines are not messages")
        }
        if let expected, expected != messages {
            problems.append("\(file) has \(messages) messages, but its last line says \(expected)")
        }
        if let cutOffLine {
            problems.append(
                "\(file):\(cutOffLine): the recording was cut off in this line; all lines before it are complete")
        } else if state == RecordingSummary.Completeness.cutOff.rawValue {
            problems.append("\(file) has no end line, so its last messages may be missing")
        }
        return problems
    }

    private var period: String? {
        guard let first, let last else { return nil }
        return "from \(Self.wallTime(first)) to \(Self.wallTime(last))"
    }

    /// A time of the recording in the time zone of the lines.
    private static func wallTime(_ text: String) -> String {
        Timestamp.date(from: text).map { WallTime.text(of: $0) } ?? text
    }

    /// The number of messages of each source. All instances of a platform's coordinator count as one source.
    private var namedSources: [String: Int] {
        Dictionary(sources.map { (names.name(of: $0), $1) }, uniquingKeysWith: +)
    }

    private var missingText: String {
        guard let missing else { return "unknown: the recording does not say" }
        let texts = missing.sorted { $0.key < $1.key }.map { "\($0.key) up to offset \($0.value)" }
        return texts.isEmpty ? "none" : texts.prefix(10).joined(separator: ", ") + (texts.count > 10 ? ", …" : "")
    }

    private func counts(_ name: String, _ counts: [String: Int]) -> [String] {
        guard !counts.isEmpty else { return [] }
        var table = Table(name, "messages")
        for (name, count) in counts.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            table.append(name, "\(count)")
        }
        return table.lines
    }
}
