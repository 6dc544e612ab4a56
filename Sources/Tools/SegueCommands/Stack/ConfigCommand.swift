package import ArgumentParser
internal import Compose
internal import Navigation
internal import Support

package struct ConfigCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Checks compose files, and prints what they come to.",
        discussion: """
            What is printed is a compose file that depends on no other file, on no variable and on no folder, even \
            for the project's name. It has the values of variables in it.
            """)

    enum Format: String, CaseIterable, ExpressibleByArgument {
        case yaml, json
    }

    enum Part: String, EnumerableFlag {
        case services, profiles, variables

        static func help(for value: Part) -> ArgumentHelp? {
            switch value {
            case .services: "Print the names of the services, each on a line."
            case .profiles: "Print the names of all profiles, each on a line."
            case .variables: "Print which variables the files refer to, and where their values come from."
            }
        }
    }

    @OptionGroup var files: ComposeFileOptions
    @OptionGroup var project: ProjectOptions

    @Flag(name: .shortAndLong, help: "Only check them.")
    var quiet = false

    @Flag var part: Part?

    @Option(help: "How to print it.")
    var format = Format.yaml

    @Flag(help: "As --format json, on one line.")
    var json = false

    @Argument(help: "Only these services, and what they depend on.", completion: .services)
    var services: [String] = []

    package init() {}

    package func run() async throws {
        // What must be set need not be yet, for whoever asks what must be set.
        if part == .variables { return try await printVariables() }
        let file = try await files.read()
        var stack = try files.stack(of: file, services: services)
        stack.name = try project.resolve(files: files.paths(), environmentFiles: files.envFile).name
        guard !quiet else { return }
        switch part {
        case .services: try await Console.output.writeLines(stack.services.map(\.name))
        case .profiles: try await Console.output.writeLines(Set(file.stack.services.flatMap(\.profiles)).sorted())
        default: try await Console.output.write(isJSON ? JSONValue(encoding: stack).description + "\n" : stack.text)
        }
    }

    private var isJSON: Bool { json || format == .json }

    private func printVariables() async throws {
        let variables = try ComposeFile.variables(in: files.paths(), environmentFiles: files.envFile)
        guard !quiet else { return }
        if isJSON {
            return try await Console.output.writeLines(variables.map { try JSONValue(encoding: $0).description })
        }
        var table = Table("NAME", "SOURCE", "DEFAULT", "REQUIRED")
        for variable in variables {
            table.append(
                variable.name, variable.origin ?? "-", variable.standIn ?? "-", variable.isRequired ? "yes" : "no")
        }
        try await Console.output.writeLines(table.lines)
    }
}
