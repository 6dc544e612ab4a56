internal import ArgumentParser
internal import FlowExploration
internal import FlowFiles
internal import FlowReview
internal import Navigation
internal import Support

struct FlowDiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Tell what changes for users between two flows.",
        discussion: """
            segue flow diff old.yaml new.yaml
            segue flow diff old.yaml new.yaml --markdown      for a review, with a graph
            segue flow diff ios.yaml mac.yaml                 how two platforms differ

            Explores both flows, and compares what can happen on each screen and where it leads. The exit status is 1 if they \
            differ. The last line says what was not explored, and so not compared.
            """)

    @Argument(help: ArgumentHelp("The flow before, in YAML or JSON.", valueName: "old"))
    var old: String

    @Argument(help: ArgumentHelp("The flow afterwards.", valueName: "new"))
    var new: String

    @OptionGroup var options: ExplorationOptions

    @Flag(help: "Print Markdown, with a graph that Mermaid draws.")
    var markdown = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if markdown, output.json { throw ValidationError("--markdown and --json exclude each other") }
    }

    func run() async throws {
        let messages = try options.messages().withoutAnswers
        let explorations = try [old, new].map { path in
            let file = try FlowFile(path)
            var explorer = FlowExplorer(
                [try file.flow()], messages: messages, hasOthers: true,
                openScreens: FlowReading(yaml: file.text, file: file.name).openScreens, limit: options.states)
            return explorer.explore()
        }
        let difference = FlowDifference(from: explorations[0].coverages[0], to: explorations[1].coverages[0])
        let limits = ExplorationLimit.lines(of: explorations[0].limits.union(explorations[1].limits))
        if output.json {
            try await Console.output.writeLine(Report(difference, limits: limits), asJSON: true, text: "")
        } else if markdown {
            try await Console.output.write(difference.markdown)
        } else {
            for line in difference.isEmpty ? ["nothing changes for users"] : difference.lines {
                try await Console.output.writeLine(line)
            }
        }
        if !limits.isEmpty, !output.json { await Console.error.tell("not compared: \(limits.joined(separator: "; "))") }
        if !difference.isEmpty { throw ExitCode.failure }
    }

    private struct Report: Encodable {
        struct Change: Encodable {
            let screen: String
            let cause: String
            let before: [String]
            let after: [String]
        }

        let newScreens: [String]
        let goneScreens: [String]
        let changes: [Change]
        /// What was not compared.
        let limits: [String]

        init(_ difference: FlowDifference, limits: [String]) {
            (newScreens, goneScreens) = (difference.newScreens, difference.goneScreens)
            changes = difference.changes.map {
                Change(screen: $0.screen, cause: $0.cause, before: $0.before, after: $0.after)
            }
            self.limits = limits
        }
    }
}
