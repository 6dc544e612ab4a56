import Broker
import BusConformance
import EventBus
import Foundation
import TestSupport
import Testing
import ZeroMQEventBus

@Suite("ZeroMQ bus")
struct ZeroMQEventBusTests {
    @Test("The ZeroMQ bus keeps every guarantee", .timeLimit(.minutes(1)), arguments: ConformanceCase.all(with: .all))
    func conforms(_ conformanceCase: ConformanceCase) async throws {
        try await TestBroker.withDirectory { try await run(conformanceCase, with: $0) }
    }

    @Test("So does one with keys", .timeLimit(.minutes(1)), arguments: ConformanceCase.all(with: .all))
    func conformsWithKeys(_ conformanceCase: ConformanceCase) async throws {
        // Subscribers see the name of the publisher's key as its source.
        let name = "conformance"
        try await TestBroker.withKeys(of: [name]) { broker, _ in
            try await run(conformanceCase, with: broker, key: name)
        }
    }

    private func run(_ conformanceCase: ConformanceCase, with broker: TestBroker, key: String = "") async throws {
        let service = RestartableService { ready in
            try await Broker(broker.configuration, logger: .silent).run { ready() }
        }
        try await service.whileRunning {
            try await conformanceCase.run { source in
                try broker.bus(source, key: key).bus
            } restart: { journal in
                try await service.restart {
                    switch journal {
                    case .stays: break
                    case .isCopied: try broker.saveJournal()
                    case .isPutBack: try broker.putBackJournal()
                    }
                }
            }
        }
    }
}
