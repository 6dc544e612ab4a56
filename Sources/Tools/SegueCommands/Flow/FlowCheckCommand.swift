internal import AppContract
internal import ArgumentParser
internal import Compose
internal import FlowFiles
internal import FlowReview
internal import Navigation
internal import Support

struct FlowCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check flows for errors.",
        discussion: """
            segue flow check config/flows/*.yaml
            segue flow check --strict flow.yaml
            segue flow check --contract config/contract.json config/flows/ios.yaml
            segue flow check -f compose/default.yaml config/flows/ios.yaml

            Each finding is one line: FILE:LINE:COLUMN: what is wrong; what to do. The exit status is 1 if a flow has \
            an error and cannot be used. A warning is about a flow that works, but probably not as intended; it fails \
            only with --strict. A note never fails.

            With the app's contract, the check also finds unknown messages, fields and services, and messages of \
            services that no rule handles.
            """)

    @Argument(help: ArgumentHelp("The flows, in YAML or JSON; '-' reads one from standard input.", valueName: "file"))
    var files: [String]

    @Option(
        help: ArgumentHelp("The app's contract, a file that 'segue contract export' has written.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var contract: String?

    /// The compose files with the services to ask for their contracts; used only if `-f` is given.
    @OptionGroup(title: "The services to ask for their contract, instead of --contract") var compose: ComposeFileOptions

    @Flag(help: "Exit with status 1 for warnings, too.")
    var strict = false

    @Flag(help: "Print one JSON object per finding.")
    var json = false

    func validate() throws {
        guard contract == nil || compose.files.isEmpty else {
            throw ValidationError("--contract and -f exclude each other")
        }
    }

    func run() async throws {
        var fails = false
        let catalogue = try await catalogue()
        let flows = try files.map { file in
            let file = try FlowFile(file)
            return FlowReading(yaml: file.text, file: file.name)
        }
        let sent = flows.map { $0.flow?.sentCommands ?? [] }
        for (index, flow) in flows.enumerated() {
            let others = sent.enumerated().filter { $0.offset != index }.map(\.element)
            let review = flow.review(
                messages: catalogue, sentElsewhere: others.reduce(into: []) { $0.formUnion($1) })
            for finding in review.findings {
                try await Console.output.writeLine(
                    json ? JSONValue(encoding: Row(finding)).description : finding.description)
            }
            fails = fails || !(strict ? review.errors + review.warnings : review.errors).isEmpty
        }
        if fails { throw ExitCode.failure }
    }

    /// The messages of the app's contract. Nil if neither `--contract` nor `-f` is given.
    private func catalogue() async throws -> MessageCatalogue? {
        if let contract { return try ContractFile.read(contract).catalogue }
        if compose.files.isEmpty { return nil }
        return try await StackContract.read(compose.stack(of: try await compose.read())).contract.catalogue
    }

    private struct Row: Encodable {
        let file: String
        /// Nil if the finding has no place in the file; then `column` is nil, too.
        let line: Int?
        let column: Int?
        let severity: String
        /// The kind of a warning or a note. Nil for an error.
        let code: String?
        let message: String

        init(_ finding: FlowFinding) {
            file = finding.source
            line = finding.line
            column = finding.column
            severity = finding.severity.rawValue
            code = finding.code?.rawValue
            message = finding.message
        }
    }
}
