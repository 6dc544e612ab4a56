package import ArgumentParser
internal import Compose
internal import Navigation
internal import Support

package struct ConfigCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Check compose files, and print the result as one compose file.",
        discussion: """
            segue config                             prints the current folder's stack
            segue config -q -f compose/default.yaml  checks a file
            segue config --variables                 lists the variables

            The printed file needs no other compose file, env file or variable, and contains the project's name. The \
            file contains the values of variables, even if the values are secret.
            """)

    enum Format: String, CaseIterable, ExpressibleByArgument {
        case yaml, json
    }

    enum Part: String, EnumerableFlag {
        case services, profiles, variables

        static func help(for value: Part) -> ArgumentHelp? {
            switch value {
            case .services: "Print the names of the services, one per line."
            case .profiles: "Print the names of all profiles, one per line."
            case .variables: "Print the variables that the files refer to, and the origins of their values."
            }
        }
    }

    @OptionGroup var files: ComposeFileOptions
    @OptionGroup var project: ProjectOptions

    @Flag(name: .shortAndLong, help: "Check the files; print only errors and warnings.")
    var quiet = false

    @Flag var part: Part?

    @Option(help: "The format of the printed file.")
    var format = Format.yaml

    @OptionGroup var output: OutputOptions

    @Argument(
        help: "The services to include, with their dependencies. (default: all)", completion: .services)
    var services: [String] = []

    package init() {}

    package func run() async throws {
        let sources = try files.sources()
        let project = try project.resolve(sources).name
        // `print(_:)` also lists required variables that are not set; `files.read` would throw an error.
        if part == .variables { return try await print(sources.variables(project: project)) }
        let file = try await files.read(sources, project: project)
        var stack = try files.stack(of: file, services: services)
        stack.name = project
        guard !quiet else { return }
        switch part {
        case .services: try await Console.output.writeLines(stack.services.map(\.name))
        case .profiles: try await Console.output.writeLines(Set(file.stack.services.flatMap(\.profiles)).sorted())
        default: try await Console.output.write(isJSON ? JSONValue(encoding: stack).description + "\n" : stack.text)
        }
    }

    private var isJSON: Bool { output.json || format == .json }

    private func print(_ variables: [ComposeVariable]) async throws {
        guard !quiet else { return }
        try await Console.output.writeList(variables, asJSON: isJSON)
    }
}

extension ComposeVariable: ListRow {
    static var columns: [Column<ComposeVariable>] {
        [
            Column(name: "NAME", cell: \.name),
            Column(name: "SOURCE") { $0.origin ?? "-" },
            Column(name: "DEFAULT") { $0.standIn ?? "-" },
            Column(name: "REQUIRED") { $0.isRequired ? "yes" : "no" },
        ]
    }
}
