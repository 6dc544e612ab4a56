package import ArgumentParser
internal import Monitor

package struct RecordInfoCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Says what is in a recording, and whether it is whole.",
        discussion: """
            segue record info story.jsonl
            segue record info story.jsonl --json
            zcat story.jsonl.gz | segue record info -

            It reads what 'segue monitor --json' writes, too. A line that is no message
            is named, FILE:LINE, and the status is 1.
            """)

    @Argument(help: "The recording; - reads it from standard input.")
    var file: String

    @Flag(help: "One JSON object.")
    var json = false

    package init() {}

    package func run() async throws {
        let recording = try await Recording(argument: file)
        let report = RecordingReport(try await recording.summary(), file: recording.name)
        if json {
            try await Console.output.writeLine(JSONLine.text(report))
        } else {
            for line in report.lines { try await Console.output.writeLine(line) }
        }
        await Console.error.tell(report.problems)
        if report.hasMistakes { throw ExitCode.failure }
    }
}
