package import ArgumentParser
internal import Navigation

package struct FlowCheckCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Says what is wrong with flows.",
        discussion: """
            segue flow check config/flows/*.yaml
            segue flow check --strict flow.yaml     as in CI: a warning fails it too
            segue flow check --messages config/messages.yaml config/flows/ios.yaml

            Each finding is a line, FILE:LINE:COLUMN: what is wrong; what to do.
            The status is 1 when a flow cannot be used, and 0 when there are but
            warnings: of flows that work, though hardly as they were meant to.
            """)

    @Argument(help: ArgumentHelp("The flows, YAML or JSON; - reads one from standard input.", valueName: "file"))
    var files: [String]

    @Option(help: ArgumentHelp("The app's messages and their fields, so that others are found.", valueName: "file"))
    var messages: String?

    @Flag(help: "Fail for warnings too.")
    var strict = false

    @Flag(help: "One JSON object a finding.")
    var json = false

    package init() {}

    package func run() async throws {
        var fails = false
        let catalogue = try messages.map { path in
            let file = try FlowFile(path)
            return try MessageCatalogue(yaml: file.text, file: file.name)
        }
        for path in files {
            let file = try FlowFile(path)
            let review = Flow.review(yaml: file.text, file: file.name, messages: catalogue)
            for finding in review.findings {
                try await Console.output.writeLine(json ? JSONLine.text(Row(finding)) : finding.description)
            }
            fails = fails || !(strict ? review.findings : review.errors).isEmpty
        }
        if fails { throw ExitCode.failure }
    }

    private struct Row: Encodable {
        let file: String
        let line: Int?
        let column: Int?
        let severity: String
        let message: String

        init(_ finding: FlowFinding) {
            file = finding.source
            line = finding.line
            column = finding.column
            severity = finding.severity.rawValue
            message = finding.message
        }
    }
}
