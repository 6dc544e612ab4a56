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

            The output of 'segue monitor --json' is a recording, too. A complete line that is not valid is reported as \
            FILE:LINE.

            The exit status is 1 if a complete line is not valid.
            """)

    @Argument(help: "The recording; '-' reads it from standard input.")
    var file: String

    @OptionGroup var zone: ZoneOptions

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let recording = try await Recording(argument: file)
        let report = RecordingReport(try await recording.summary(), file: recording.name)
        try await Console.output.writeLine(report, asJSON: output.json, text: report.lines.joined(separator: "\n"))
        await Console.error.tell(report.problems)
        if report.hasMistakes { throw ExitCode.failure }
    }
}

/// The description of a recording that `segue record info` prints. Its JSON has the keys of the summary and `file`.
struct RecordingReport: Encodable {
    private let summary: RecordingSummary
    private let file: String

    init(_ summary: RecordingSummary, file: String) {
        (self.summary, self.file) = (summary, file)
    }

    private enum CodingKeys: CodingKey {
        case file
    }

    func encode(to encoder: any Encoder) throws {
        try summary.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(file, forKey: .file)
    }

    var lines: [String] {
        var table = Table("recording", file)
        table.append("state", summary.completeness.rawValue)
        if let header = summary.header {
            let begun = Timestamp.date(from: header.begun).map { WallTime.text(of: $0) } ?? header.begun
            table.append("recorded", "since \(header.since), begun \(begun)")
        }
        let period = summary.times.map {
            ", from \(WallTime.text(of: $0.lowerBound)) to \(WallTime.text(of: $0.upperBound))"
        }
        table.append("duration", "\(summary.duration / .seconds(1)) s" + (period ?? ""))
        let journals = summary.journalCount
        table.append("messages", "\(summary.messages)" + (journals > 1 ? ", of \(journals) journals" : ""))
        table.append("missing", missingText)
        return [
            table.lines, counts("type", summary.types), counts("session", summary.subjects),
            counts("source", namedSources),
        ].filter { !$0.isEmpty }.joined(separator: [""]).map(\.self)
    }

    var hasMistakes: Bool { summary.mistakeCount > 0 }

    /// The problems of the recording, one per line.
    var problems: [String] {
        var problems = summary.mistakes.map { "\(file):\($0.line): this is not a message: \($0.reason)" }
        let others = summary.mistakeCount - summary.mistakes.count
        if others > 0 { problems.append("\(file): \(others) more lines are not messages") }
        if let end = summary.end, end.messages != summary.messages {
            problems.append("\(file) has \(summary.messages) messages, but its last line says \(end.messages)")
        }
        if let cutOffLine = summary.cutOffLine {
            problems.append(
                "\(file):\(cutOffLine): the recording was cut off in this line; all lines before it are complete")
        } else if summary.completeness == .cutOff {
            problems.append("\(file) has no end line, so its last messages may be missing")
        }
        return problems
    }

    /// The number of messages of each source. All instances of a platform's coordinator count as one source.
    private var namedSources: [String: Int] {
        Dictionary(summary.sources.map { (summary.names.name(of: $0), $1) }, uniquingKeysWith: +)
    }

    private var missingText: String {
        guard let missing = summary.missing else { return "unknown: the recording does not say" }
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
