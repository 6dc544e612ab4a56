import BusConformance
import EventBus
import NATSEventBus
import NATSTestSupport
import Testing

@Suite("NATS bus", .sharedServer)
struct ConformanceTests {
    /// The cases that claim a durable consumer.
    private static let claiming: Set<String> = [
        "what is just not too large is taken, and names are of any language",
        "between past and live nothing is missing and nothing comes twice",
        "transient messages are not for durable consumers",
    ]

    private static let cases =
        (ConformanceCase.publishing + ConformanceCase.starting + ConformanceCase.pastAndLive
        + ConformanceCase.filtering + ConformanceCase.reading + ConformanceCase.documents + ConformanceCase.transience)
        .filter { $0.features.isSubset(of: [.transient]) && !claiming.contains($0.name) }

    @Test("keeps every promise", .timeLimit(.minutes(2)), arguments: cases)
    func conforms(_ conformanceCase: ConformanceCase) async throws {
        let bus = try await TestBus.make()
        try await conformanceCase.run { source in try bus.bus(source) }
    }

    private static let restarts = ConformanceCase.restarting.filter { conformanceCase in
        ["all that was acknowledged", "documents are there", "publishers and readers go on"].contains {
            conformanceCase.name.hasPrefix($0)
        }
    }

    @Test("keeps every promise across kill -9 of the server", .timeLimit(.minutes(2)), arguments: restarts)
    func goesOn(_ conformanceCase: ConformanceCase) async throws {
        try await NATSServer().whileRunning { server in
            let bus = TestBus(server: server)
            try await bus.makeStreams()
            try await conformanceCase.run({ source in try bus.bus(source) }, restart: { try await server.restart() })
        }
    }
}
