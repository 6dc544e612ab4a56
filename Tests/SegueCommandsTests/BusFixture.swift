import CommandLineTestSupport
import Compose
import EventBus
import Logging
import Testing
import Transports

extension SegueCommandLine {
    /// Runs `body` while a broker is running.
    static func onBus(_ body: (SegueCommandLine) async throws -> Void) async throws {
        try await inScratch { segue in
            try segue.write(Stacks.broker)
            let up = try await segue("up", "-d", "--wait")
            try #require(up.status == 0, "\(up.error)")
            try await body(segue)
        }
    }

    /// The address of the running broker.
    var bus: String {
        get throws {
            try Project(
                name: "demo", stateRoot: directory + "/state/segue", runtimeRoot: directory + "/run/segue"
            ).busAddress
        }
    }

    /// Runs `body` with a connection to the broker.
    func withConnection<Result: Sendable>(
        _ body: @escaping @Sendable (any EventBus) async throws -> Result
    ) async throws -> Result {
        let bus = try BusFactory.standard.bus(
            at: bus, source: "test/1",
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        return try await bus.whileOpen { try await body(bus) }
    }
}

/// The part of the JSON of `segue send --json` and `segue monitor --json` that tests use.
struct Receipt: Decodable {
    struct JournalPosition: Decodable, Equatable {
        let epoch: String
        let offset: UInt64
    }

    let id: String
    let platform: String?
    let position: JournalPosition
    let expirytime: String?
}
