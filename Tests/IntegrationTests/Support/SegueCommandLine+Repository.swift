import CommandLineTestSupport
import EventBus
import Foundation
import Logging
import Transports

extension SegueCommandLine {
    /// Runs `body` with the repository as the working folder, and with a temporary folder for state and sockets.
    static func inRepository(_ body: (SegueCommandLine) async throws -> Void) async throws {
        try await inScratch { segue in
            var segue = segue
            segue.workingDirectory = Repository.path("")
            try await body(segue)
        }
    }
}

extension SegueCommandLine {
    /// Runs `body` with a connection of the test to the bus of the only project that is running.
    func withConnection<Result: Sendable>(
        _ body: @escaping @Sendable (any EventBus) async throws -> Result
    ) async throws -> Result {
        let projects = try FileManager.default.contentsOfDirectory(atPath: "\(directory)/run/segue")
        guard let project = projects.first, projects.count == 1 else {
            throw BusError(.address, "one project should be up, not \(projects)")
        }
        let bus = try BusFactory.standard.bus(
            at: "ipc://\(directory)/run/segue/\(project)/bus", source: "test/1",
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        return try await bus.whileOpen { try await body(bus) }
    }
}
