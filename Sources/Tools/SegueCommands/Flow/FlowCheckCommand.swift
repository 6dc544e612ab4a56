internal import AppContract
internal import ArgumentParser
internal import Compose
internal import FlowExploration
internal import FlowFiles
internal import FlowReview
internal import Navigation
internal import Support

struct FlowCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check flows for errors.",
        discussion: """
            segue flow check                       the flows in compose.yaml, and its services' messages
            segue flow check --strict flow.yaml    the flow alone
            segue flow check -f compose/default.yaml config/flows/ios.yaml
            segue flow check --contract config/contract.json config/flows/ios.yaml

            Each finding is one line: FILE:LINE:COLUMN: what is wrong; what to do. An error means that the flow \
            cannot be used. A warning is about a flow that works, but probably not as intended.

            With the app's contract, the check also finds unknown messages, fields and services, and messages of \
            services that no rule handles. The contract is that of the compose file, unless only flows are named.

            docs/flow-keys.md explains the codes of findings.

            The exit status is 1 if there is an error, or with --strict a warning.
            """)

    @Argument(
        help: ArgumentHelp(
            "The flows, in YAML or JSON; '-' reads one from standard input. (default: those that the services of the "
                + "compose file name with --flow)", valueName: "file"))
    var files: [String] = []

    @Option(
        help: ArgumentHelp("The app's contract, a file that 'segue contract export' has written.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var contract: String?

    /// The compose files with the services to ask for their contracts. Not used if only flows are named.
    @OptionGroup(title: "The services to ask for their contract, instead of --contract") var compose: ComposeFileOptions

    @Flag(help: "Exit with status 1 for warnings, too.")
    var strict = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard contract == nil || compose.files.isEmpty else {
            throw ValidationError("--contract and -f exclude each other")
        }
    }

    func run() async throws {
        var (fails, isClean) = (false, true)
        let needsStack = files.isEmpty || contract == nil && !compose.files.isEmpty
        let stack = needsStack ? try compose.stack(of: try await compose.read()) : nil
        let paths = try files.isEmpty ? stack.map(FlowFile.paths) ?? [] : files
        let flows = try paths.map { file in
            let file = try FlowFile(file)
            return FlowReading(yaml: file.text, file: file.name)
        }
        // A coordinator does not start with a flow that has errors, so it cannot be asked for its contract.
        let isUsable = flows.allSatisfy { $0.flow != nil && $0.findings.isEmpty }
        let catalogue = try await catalogue(of: isUsable ? stack : nil)
        let sent = flows.map { $0.flow?.sentCommands ?? [] }
        for (index, flow) in flows.enumerated() {
            let others = sent.enumerated().filter { $0.offset != index }.map(\.element)
            let explored = flow.findings.isEmpty ? flow.flow : nil
            let review = flow.review(
                messages: catalogue, sentElsewhere: others.reduce(into: []) { $0.formUnion($1) },
                explored: explored.flatMap {
                    FlowExplorer.problems(of: $0, catalogue, openScreens: flow.openScreens)
                })
            for finding in review.findings {
                try await Console.output.writeLine(finding, asJSON: output.json, text: finding.description)
            }
            isClean = isClean && review.findings.isEmpty
            fails = fails || !(strict ? review.errors + review.warnings : review.errors).isEmpty
        }
        if fails { throw ExitCode.failure }
        guard isClean, !output.json else { return }
        let advice = catalogue == nil ? "; with '-f COMPOSE', messages are compared with those of the services" : ""
        try await Console.output.writeLine("no findings in \(flows.map(\.file).joined(separator: ", "))\(advice)")
    }

    /// The messages of the app's contract. Nil if only flows are named.
    private func catalogue(of stack: Stack?) async throws -> MessageCatalogue? {
        if let contract { return try ContractFile.read(contract).catalogue }
        guard let stack else { return nil }
        return try await StackContract.read(stack).contract.catalogue
    }
}
