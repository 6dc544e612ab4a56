import Compose
import Foundation
import Logging

/// A supervisor in a separate process, for tests that kill it or let it continue on its own.
///
/// Its arguments: the compose file, the project name, the folder of all projects' state, the folder of all projects'
/// sockets.
@main
struct ComposeFixture {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        do {
            guard arguments.count == 4 else { throw Usage() }
            let values = Array(arguments)
            let project = try Project(name: values[1], stateRoot: values[2], runtimeRoot: values[3])
            let supervisor = try Supervisor(
                stack: ComposeFile(path: values[0]).stack,
                project: project,
                options: SupervisorOptions(stopSignals: [SIGINT, SIGTERM]),
                logger: Logger(label: "compose-fixture")
            )
            try await supervisor.run()
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }

    private struct Usage: Error {}
}
