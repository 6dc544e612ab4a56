internal import ArgumentParser
internal import Compose
internal import Foundation

/// Which bus a command talks to: `--bus`, else the project of `-p`, else `SEGUE_BUS`, else the folder's own project.
package struct BusOptions: ParsableArguments, Sendable {
    @Option(help: ArgumentHelp("The bus, such as ipc:///run/segue or tcp://host:port.", valueName: "url"))
    var bus: String?

    @OptionGroup var project: ProjectOptions

    package init() {}

    /// An address, and what gave it.
    package struct Location: Hashable, Sendable {
        package let address: String
        package let origin: String
    }

    /// - Throws: ``ComposeError`` when the project cannot be told.
    package func location(environment: [String: String] = ProcessInfo.processInfo.environment) throws -> Location {
        if let bus { return Location(address: bus, origin: "--bus") }
        if project.project == nil, let bus = environment["SEGUE_BUS"], !bus.isEmpty {
            return Location(address: bus, origin: "SEGUE_BUS")
        }
        let project = try project.resolve()
        return Location(address: project.busAddress, origin: "project '\(project.name)'")
    }
}
