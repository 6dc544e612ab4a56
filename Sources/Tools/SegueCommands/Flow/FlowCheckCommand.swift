internal import AppContract
internal import ArgumentParser
internal import Compose
internal import FlowFiles
internal import FlowReview
internal import Navigation
internal import Support

struct FlowCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Says what is wrong with flows.",
        discussion: """
            segue flow check config/flows/*.yaml
            segue flow check --strict flow.yaml     as in CI: a warning fails it too
            segue flow check --contract config/contract.json config/flows/ios.yaml
            segue flow check -f compose/default.yaml config/flows/ios.yaml

            Each finding is a line, FILE:LINE:COLUMN: what is wrong; what to do.
            The status is 1 when a flow cannot be used, and 0 when there are but
            warnings: of flows that work, though hardly as they were meant to.
            Notes tell what its authors should know, and never fail it.

            With the app's contract also messages, fields and services are found
            that there are not, and what services tell that no rule answers.
            """)

    @Argument(help: ArgumentHelp("The flows, YAML or JSON; - reads one from standard input.", valueName: "file"))
    var files: [String]

    @Option(
        help: ArgumentHelp("The app's contract, as 'segue contract export' writes it.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var contract: String?

    /// Whose services are asked for their contract, if files are named.
    @OptionGroup(title: "The services to ask for their contract, instead of --contract") var compose: ComposeFileOptions

    @Flag(help: "Fail for warnings too.")
    var strict = false

    @Flag(help: "One JSON object a finding.")
    var json = false

    func validate() throws {
        guard contract == nil || compose.files.isEmpty else {
            throw ValidationError("--contract and -f exclude each other")
        }
    }

    func run() async throws {
        var fails = false
        let catalogue = try await catalogue()
        for path in files {
            let file = try FlowFile(path)
            let review = Flow.review(yaml: file.text, file: file.name, messages: catalogue)
            for finding in review.findings {
                try await Console.output.writeLine(
                    json ? JSONValue(encoding: Row(finding)).description : finding.description)
            }
            fails = fails || !(strict ? review.errors + review.warnings : review.errors).isEmpty
        }
        if fails { throw ExitCode.failure }
    }

    private func catalogue() async throws -> MessageCatalogue? {
        if let contract { return try ContractFile.read(contract).catalogue }
        if compose.files.isEmpty { return nil }
        return try await StackContract.read(compose.stack(of: try await compose.read())).contract.catalogue
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
