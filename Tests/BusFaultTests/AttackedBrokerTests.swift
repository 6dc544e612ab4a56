import BusAttack
import BusKeys
import BusSoak
import EventBus
import Foundation
import Support
import TestSupport
import Testing
import ZeroMQEventBus

@Suite("A broker that is killed while a program with a valid key attacks it", .timeLimit(.minutes(3)), .serialized)
struct AttackedBrokerTests {
    @Test(
        "The others go on with the next broker, and nothing is lost", arguments: [Attack.batches, .documents, .unread])
    func restart(_ attack: Attack) async throws {
        try await Arena.with { arena in
            let keys = try KeyFolder.create("\(arena.directory)/keys")
            for name in ["honest", "hostile"] { _ = try keys.add(name) }
            let (address, first) = try await start(in: arena, keys)
            let bus = EventBus(
                try ZeroMQEventBus(
                    address: address, source: "honest/1", keyFile: keys.file(of: "honest"), logger: .silent))
            try await bus.whileOpen {
                let begun = Counter()
                let attacker = try Attacker(attack, on: address, with: KeyFile(path: keys.file(of: "hostile")))
                defer { attacker.stop() }
                await attacker.isUnderWay.waitUntilOpenOrCancelled()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        while !Task.isCancelled { try await bus.publish([begun.increment()]) }
                    }
                    group.addTask {
                        var broker = first
                        for round in 2...4 {
                            // The first of them may be older than the broker.
                            try await begun.waitUntil(begun.count + 20)
                            try await broker.send(SIGKILL)
                            try await arena.waitUntilEnd(of: broker)
                            broker = try await arena.startBroker("broker\(round)", on: address, keys)
                        }
                        try await begun.waitUntil(begun.count + 20)
                    }
                    try await group.next()
                    group.cancelAll()
                }
                attacker.stop()
                #expect(attacker.error == nil)
                // The last one may have been cancelled.
                let count = begun.count - 1
                let numbers = try await bus.withSubscription(to: [.type(Counted.self)], from: .beginning) {
                    try await $0.receive(count).numbers
                }
                #expect(numbers == Array(1...count))
            }
        }
    }

    /// Starts a broker on a free port. It tries random ones, because a check for a free port would be a race.
    private func start(in arena: Arena, _ keys: KeyFolder) async throws -> (address: String, broker: ChildProcess) {
        for attempt in 1...20 {
            // Below the ports that the kernel gives to outgoing connections.
            let address = "tcp://127.0.0.1:\(Int.random(in: 5_000..<16_000) * 2)"
            let name = "broker1.\(attempt)"
            let broker = try await arena.startBroker(name, on: address, keys)
            try await arena.until("\(name) serves or has ended") { _ in
                broker.hasEnded || arena.log(of: name).contains("serving")
            }
            if !broker.hasEnded { return (address, broker) }
        }
        throw arena.failure("there is no free port")
    }
}

extension Arena {
    fileprivate func startBroker(_ name: String, on address: String, _ keys: KeyFolder) async throws -> ChildProcess {
        try await start(
            name, ["broker", "--bus", address, "--journal", journal],
            environment: ["SEGUE_BUS_CURVE": keys.file(of: "broker")])
    }
}
