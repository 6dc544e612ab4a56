import BusSoak
import Consuming
import Contracts
import EventBus
import Foundation
import ServiceRuntime
import TestSupport
import Testing

@Suite("Absent consumer of a journal with a size limit", .timeLimit(.minutes(2)))
struct RetentionProcessTests {
    @Test("The consumer is warned before it loses messages, and then gets a report of exactly which it lost")
    func cutOff() async throws {
        try await Arena.with { arena in
            let arguments = ["broker", "--bus", arena.bus, "--journal", arena.journal, "--retain-size"]
            let broker = try await arena.start("broker", arguments + ["1MiB"])
            try await arena.withBus { bus in
                let first = try await publish(1, on: bus)[0]
                var (sent, handled): (Set<UInt64>, Set<UInt64>) = ([first], try await consume(through: first, on: bus))
                try await bus.withSubscription(to: [.type(ApplicationError.self)], from: .now) { errors in
                    // While the consumer is away, the journal becomes nearly full and, after the warning, too large.
                    sent.formUnion(try await publish(1000, on: bus))
                    try await errors.next(with: "broker.consumer.behind")
                    sent.formUnion(try await publish(1000, on: bus))
                    try await errors.next(with: "broker.consumer.cut-off")
                }
                // A larger limit, so that the results of the consumer do not cause further messages to be removed.
                try await broker.send(SIGTERM)
                try await arena.waitUntilEnd(of: broker)
                _ = try await arena.start("roomier", arguments + ["16MiB"])
                for _ in 0..<2 {
                    let last = try await publish(1, on: bus)[0]
                    sent.insert(last)
                    handled.formUnion(try await consume(through: last, on: bus))
                }
                let lost = sent.subtracting(handled).sorted()
                let (from, to) = try (#require(lost.first), #require(lost.last))
                let told = try await bus.journalled(ApplicationError.self)
                    .map { try $0.decode(ApplicationError.self) }.filter { $0.code == "journal.cutoff" }
                let line = "\(lost.count) event.Noted (offsets \(from) to \(to))"
                #expect(told.map(\.message) == ["retention removed messages that reader had not handled: \(line)"])
                #expect(from == first + 1 || from == first + 2, "behind what it had handled, and its result")
                #expect(sent.filter { $0 > to }.isSubset(of: handled))
            }
        }
    }

    /// Runs the consumer until it has handled the message at an offset.
    /// - Returns: The offsets of all messages that it has handled. They are read from its results, which are recorded
    ///   together with its progress.
    private func consume(through last: UInt64, on bus: EventBus) async throws -> Set<UInt64> {
        let handlers = Handlers("reader").on(Noted.self, sends: DomainEvent.DeepLinkReceived.self) { _, context in
            [DomainEvent.DeepLinkReceived(url: "\(context.cause.position?.offset ?? 0)")]
        }
        return try await bus.withSubscription(to: [.type(DomainEvent.DeepLinkReceived.self)], from: .now) { results in
            try await withRunning(handlers.service(on: bus)) {
                var handled: Set<UInt64> = []
                for try await result in results {
                    handled.insert(try #require(UInt64(result.decode(DomainEvent.DeepLinkReceived.self).url)))
                    if handled.contains(last) { break }
                }
                return handled
            }
        }
    }

    /// Publishes messages.
    /// - Returns: Their offsets.
    private func publish(_ count: Int, on bus: EventBus) async throws -> [UInt64] {
        let text = String(repeating: "x", count: 600)
        let last = try await bus.publish(Batch((0..<count).map { _ in try bus.noted(text) })).offset
        return Array(last + 1 - UInt64(count)...last)
    }
}
