package import ArgumentParser
internal import Compose
internal import Foundation

package struct WaitCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "wait", abstract: "Wait until services have ended, and exit with the status of the first to end.",
        discussion: """
            segue wait tests                  waits for one service
            segue wait --ready                waits until all services are ready
            segue wait --down-project tests   waits for one service, then stops the project

            Prints a line for each service as soon as the service has ended. A service that its restart policy \
            restarts has not ended.

            The exit status is that of the first service that ends. With --ready, it is 1 if a service fails.
            """)

    @OptionGroup var stack: StackOptions

    @Flag(help: "Wait until the services are ready, not until they have ended.")
    var ready = false

    @Flag(help: "Stop the project when the first service has ended.")
    var downProject = false

    @Argument(help: "The services to wait for. (default: all)", completion: .services)
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
        // A service that could not be started has no exit status.
        if let first, first.exitStatus != 0 { throw ExitCode(first.exitStatus ?? 1) }
    }
}
