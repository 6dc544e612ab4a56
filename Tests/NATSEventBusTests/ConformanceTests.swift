import BusConformance
import EventBus
import NATS
import NATSEventBus
import NATSTestSupport
import Steward
import Support
import TestSupport
import Testing

@Suite("NATS bus")
struct ConformanceTests {
    @Test("The NATS bus keeps every guarantee", .timeLimit(.minutes(2)), arguments: ConformanceCase.all(with: .all))
    func conforms(_ conformanceCase: ConformanceCase) async throws {
        try await NATSServer().whileRunning { server in
            let bus = TestBus(server: server)
            try await bus.whileStewarded {
                try await conformanceCase.run { source in
                    try bus.bus(source).bus
                } restart: { journal in
                    try await server.kill()
                    switch journal {
                    case .stays: break
                    case .isCopied: try server.saveStore()
                    case .isPutBack: try server.putBackStore()
                    }
                    try await server.restart()
                }
            }
        }
    }
}

extension TestBus {
    /// Runs `body` with a steward.
    func whileStewarded(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let steward = Steward(
            NATSOptions(servers: [server.url], name: "steward"), StewardConfiguration(namespace: namespace),
            logger: .silent)
        let leads = Latch()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await steward.run { role in
                    if case .leader = role { leads.open() }
                }
            }
            group.addTask {
                await leads.waitUntilOpenOrCancelled()
                try await body()
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
