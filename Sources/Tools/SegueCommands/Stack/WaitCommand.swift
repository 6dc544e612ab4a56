package import ArgumentParser
internal import Compose
internal import Foundation

package struct WaitCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "wait", abstract: "Waits until services have ended, and ends as the first of them did.",
        discussion: "Prints the exit status of each as it ends. A service that its policy restarts has not ended.")

    @OptionGroup var stack: StackOptions

    @Flag(help: "Wait until they are ready instead.")
    var ready = false

    @Flag(help: "Take the project down when the first has ended.")
    var downProject = false

    @Argument(help: "These services; without any: all.", completion: .services)
    var services: [String] = []

    package init() {}

    package func validate() throws {
        guard !ready || !downProject else { throw ValidationError("--ready and --down-project exclude each other") }
    }

    package func run() async throws {
        let project = try stack.resolve()
        guard let status = try ProjectStatus.read(project) else { throw CommandError.neverStarted(project) }
        let names = try status.instances(named: services, of: project).filter(\.order.isWanted).map(\.name)
        if ready { return try await project.waitUntilUp(names) }
        let first = try await project.waitUntilEnded(names, all: !downProject) { instance in
            try await Console.output.writeLine("\(instance.name) \(instance.ending ?? "failed")")
        }
        if downProject { try await project.stop() }
        if let first, first.exitStatus != 0 { throw ExitCode(first.exitStatus) }
    }
}

extension ServiceStatus {
    /// As a shell tells it.
    fileprivate var exitStatus: Int32 {
        signal.map { 128 + $0 } ?? exitCode ?? 1
    }
}
