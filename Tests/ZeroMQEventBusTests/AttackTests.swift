import Broker
import BusAttack
import BusConformance
import BusKeys
import EventBus
import Foundation
import Support
import TestSupport
import Testing
import ZeroMQEventBus

@Suite("Attacks of a program with a valid key", .timeLimit(.minutes(2)), .serialized)
struct AttackTests {
    /// The limit that an attack reaches, and what the broker says then.
    private static let limits: [Attack: (change: @Sendable (inout UserLimits) -> Void, report: String)] = [
        .connections: ({ $0.connections = 20 }, "their keys have too many connections"),
        .subscriptions: ({ $0.subscriptions = 5000 }, "their keys have too many subscriptions"),
    ]

    @Test("The others lose nothing and go on", arguments: Attack.allCases)
    func others(_ attack: Attack) async throws {
        let log = LogRecorder()
        try await TestBroker.withKeys(of: ["test", "hostile"]) { broker, keys in
            try await broker.onPort { broker in
                var settings = broker
                Self.limits[attack]?.change(&settings.userLimits)
                let broker = settings
                try await broker.run(logger: log.logger) {
                    let bus = try broker.bus()
                    try await bus.whileOpen {
                        try await bus.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                            try await bus.publish(numbers: 0..<1000, batch: 100)
                            let attacker = try Attacker(
                                attack, on: broker.address, with: KeyFile(path: keys.file(of: "hostile")))
                            defer { attacker.stop() }
                            await attacker.isUnderWay.waitUntilOpenOrCancelled()
                            for number in 1000..<1020 { try await bus.publish(numbers: number..<number + 1) }
                            if let report = Self.limits[attack]?.report { try await broker.waitForAudit(report) }
                            #expect(attacker.error == nil)
                            attacker.stop()
                            try await bus.publish(numbers: 1020..<1200)
                            let numbers = try await messages.receive(1200).numbers
                            #expect(numbers == Array(0..<1200))
                        }
                    }
                }
            }
        }
    }
}
