package import ArgumentParser

package struct ExportCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Writes a stack as other programs take it.",
        subcommands: [ExportSystemdCommand.self])

    package init() {}
}
