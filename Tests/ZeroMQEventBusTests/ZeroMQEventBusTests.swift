import BusConformance
import EventBus
import Foundation
import Testing
import ZeroMQEventBus

@Suite("ZeroMQ bus")
struct ZeroMQEventBusTests {
    @Test("keeps the promises of every bus", .timeLimit(.minutes(1)), arguments: ConformanceCase.all)
    func conforms(_ conformanceCase: ConformanceCase) async throws {
        try await TestBroker.withDirectory { broker in
            try await broker.run {
                try await conformanceCase.run { source in try broker.bus(source) }
            }
        }
    }
}
