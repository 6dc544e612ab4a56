import Broker
import BusConformance
import EventBus
import Foundation
import Logging
import TestSupport
import Testing
import ZeroMQ
import ZeroMQEventBus

@testable import ZeroMQEventBus

@Suite("Clients of an absent, restarted or second broker")
struct BrokerFaultTests {
    @Test(
        "Messages that are published while the broker is away arrive in order when it is back", .timeLimit(.minutes(1)))
    func brokerStartsLast() async throws {
        try await TestBroker.withDirectory { broker in
            let bus = try broker.bus()
            try await bus.whileOpen {
                let published = Counter()
                async let publishing: Void = {
                    try await bus.publish(numbers: 0..<100)
                    published.increment()
                }()
                let received = try await broker.run {
                    let numbers = try await bus.withSubscription(to: [.type(Counted.self)], from: .beginning) {
                        try await $0.receive(100).numbers
                    }
                    // A message arrives before its publisher has the answer, which a broker that ends does not send.
                    try await published.waitUntil(1)
                    return numbers
                }
                try await publishing
                #expect(received == Array(0..<100))
            }
        }
    }

    @Test("A broker that restarts repeatedly causes no loss and no duplicate", .timeLimit(.minutes(1)))
    func brokerRestarts() async throws {
        try await TestBroker.withDirectory { broker in
            let publisher = try broker.bus("publisher/1")
            let subscriber = try broker.bus("subscriber/1")
            let (received, published) = (Counter(), Counter())
            try await publisher.whileOpen {
                try await subscriber.whileOpen {
                    try await withThrowingTaskGroup { group in
                        group.addTask {
                            try await publisher.publish(numbers: 0..<4000, batch: 5)
                            published.increment()
                        }
                        group.addTask {
                            try await subscriber.withSubscription(to: [.type(Counted.self)], from: .beginning) {
                                for try await message in $0 {
                                    #expect(try message.decode(Counted.self).number == received.count)
                                    received.increment()
                                    if received.count == 4000 { break }
                                }
                            }
                        }
                        // When a broker stops, there may be unanswered batches. The next broker receives them again.
                        for count in stride(from: 800, to: 4000, by: 800) {
                            try await broker.run { try await received.waitUntil(count) }
                        }
                        // The last acknowledgement may arrive after the last message.
                        try await broker.run { try await published.waitUntil(1) }
                        try await group.waitForAll()
                    }
                }
            }
            #expect(received.count == 4000)
        }
    }

    @Test("After the journal was deleted, publishers and readers continue with the new one", .timeLimit(.minutes(1)))
    func newJournal() async throws {
        try await TestBroker.withDirectory { broker in
            let bus = try broker.bus()
            try await bus.whileOpen {
                try await broker.run { try await bus.publish(numbers: 0..<10) }
                broker.deleteJournal()
                let received = try await broker.run {
                    try await bus.publish(numbers: 10..<20)
                    return try await bus.withSubscription(to: [.all], from: .beginning) {
                        try await $0.receive(10).numbers
                    }
                }
                #expect(received == Array(10..<20))
            }
        }
    }

    @Test(
        "A publisher that the broker has forgotten continues without a loss or a duplicate",
        .timeLimit(.minutes(1)))
    func forgottenProducer() async throws {
        try await TestBroker.withDirectory { broker in
            let bus = try broker.bus()
            try await bus.whileOpen {
                try await broker.run { try await bus.publish(numbers: 0..<500) }
                try broker.forgetProducers()
                let published = Counter()
                // Several batches are unanswered when the broker refuses the first.
                async let one: Void = {
                    try await bus.publish(numbers: 500..<700, batch: 10)
                    published.increment()
                }()
                async let two: Void = {
                    try await bus.publish(numbers: 700..<900, batch: 10)
                    published.increment()
                }()
                let received = try await broker.run {
                    let numbers = try await bus.withSubscription(to: [.all], from: .beginning) {
                        try await $0.receive(900).numbers
                    }
                    try await published.waitUntil(2)
                    return numbers
                }
                try await one
                try await two
                #expect(received.prefix(500) == Array(0..<500)[...])
                #expect(received.sorted() == Array(0..<900))
            }
        }
    }

    @Test(
        "A consumer continues with a new journal, whether it is exclusive or shared", .timeLimit(.minutes(1)),
        arguments: [ConsumerMode.exclusive, .shared])
    func newJournalForConsumer(mode: ConsumerMode) async throws {
        try await TestBroker.withDirectory { broker in
            let bus = try broker.bus()
            try await bus.whileOpen {
                try await withThrowingTaskGroup { group in
                    group.addTask {
                        try await bus.bus.consume(as: "counter", [.type(Counted.self)], mode: mode) { message in
                            [try Envelope(Recounted(number: message.decode(Counted.self).number), source: bus.source)]
                        }
                    }
                    group.addTask {
                        for start in [0, 10] {
                            broker.deleteJournal()
                            try await broker.run {
                                try await bus.publish(numbers: start..<start + 10)
                                let results = try await bus.withSubscription(
                                    to: [.type(Recounted.self)], from: .beginning
                                ) { try await $0.receive(10).numbers }
                                #expect(results == Array(start..<start + 10))
                                // This request is answered after the consumer's last batch: when the journal is
                                // deleted, the consumer waits for its next message.
                                _ = try await bus.end()
                            }
                        }
                    }
                    try await group.next()
                    group.cancelAll()
                }
            }
        }
    }

    @Test("A second broker on the same address is refused, and the first one continues", .timeLimit(.minutes(1)))
    func secondBroker() async throws {
        try await TestBroker.withDirectory { broker in
            try await broker.run {
                let error = await #expect(throws: BusError.self) { try await broker.run {} }
                #expect(error?.code == .address)
                #expect(error?.message.contains(broker.address) == true)
                let bus = try broker.bus()
                try await bus.whileOpen { try await bus.publish(numbers: 0..<1) }
            }
        }
    }

    @Test(
        "A second broker on the same journal is refused, whatever its address, and the first one continues",
        .timeLimit(.minutes(1)), arguments: ["tcp", "ipc"])
    func secondJournal(transport: String) async throws {
        try await TestBroker.withDirectory { broker in
            try await TestBroker.withDirectory { other in
                // The broker refuses the journal before it binds a port.
                let address = transport == "tcp" ? "tcp://127.0.0.1:1" : other.address
                let link = other.directory.appendingPathComponent("link.sqlite").path
                try await broker.run {
                    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: broker.journal)
                    for path in [broker.journal, link] {
                        let error = await #expect(throws: BusError.self) {
                            try await Broker(
                                BrokerConfiguration(address: address, journal: path, isInsecure: true), logger: .silent
                            )
                            .run()
                        }
                        #expect(error?.code == .journal)
                        #expect(error?.message.contains("another broker serves the journal \(path)") == true)
                    }
                    let bus = try broker.bus()
                    try await bus.whileOpen { try await bus.publish(numbers: 0..<1) }
                }
            }
        }
    }

    @Test("A client without a broker gets an error of one line", .timeLimit(.minutes(1)))
    func noBroker() async throws {
        try await TestBroker.withDirectory { broker in
            let bus = try broker.bus()
            try await bus.whileOpen {
                let error = await #expect(throws: BusError.self) {
                    try await bus.waitUntilConnected(timeout: .milliseconds(100))
                }
                #expect(error == BusError(.unavailable, "no broker answers at \(broker.address)"))
            }
        }
    }

    @Test(
        "A client does not connect in a folder where another user could serve the bus", .timeLimit(.minutes(1)),
        arguments: [0o755, 0o770])
    func openFolder(mode: Int) async throws {
        try await TestBroker.withDirectory { broker in
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: broker.directory.path)
            let bus = try broker.bus()
            let error = await #expect(throws: BusError.self) { try await bus.run() }
            #expect(error?.code == .address && error?.message.contains(broker.directory.path) == true)
        }
    }

    @Test("A burst far beyond the capacity of the feed reaches a reader that sleeps meanwhile", .timeLimit(.minutes(1)))
    func burst() async throws {
        try await TestBroker.withDirectory { broker in
            try await broker.run {
                let reader = try broker.bus("reader/1")
                let publisher = try broker.bus("publisher/1")
                try await reader.whileOpen {
                    try await reader.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                        try await publisher.whileOpen { try await publisher.publish(numbers: 0..<30_000) }
                        #expect(try await messages.receive(30_000).numbers == Array(0..<30_000))
                    }
                }
            }
        }
    }
}

/// The result of a consumer for a ``Counted``. It has the same fields.
private struct Recounted: EventMessage {
    let number: Int
}

@Suite("Garbage on the broker's sockets")
struct GarbageTests {
    /// A log handler that passes on each line.
    private struct Lines: LogHandler {
        let lines: AsyncStream<String>.Continuation
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level = .warning

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.yield("\(event.message) \(event.metadata ?? [:])")
        }
    }

    @Test(
        "A message to the feed that is not a subscription is dropped, and the log reports the number",
        .timeLimit(.minutes(1)))
    func feed() async throws {
        try await TestBroker.withDirectory { broker in
            let (log, lines) = AsyncStream.makeStream(of: String.self)
            let logger = Logger(label: "broker") { _ in Lines(lines: lines) }
            try await whileRunning({
                try sendGarbage(to: "\(broker.address)/feed")
                let line = await log.first { $0.contains("refused or dropped") }
                #expect(line?.contains(#""count": 1"#) == true, "\(line ?? "")")
                let bus = try broker.bus()
                try await bus.whileOpen { try await bus.publish(numbers: 0..<1) }
            }) { ready in
                try await Broker(broker.configuration, logger: logger).run { ready() }
            }
        }
    }

    private func sendGarbage(to endpoint: String) throws {
        let socket = try Socket(.xsub, options: [.linger(5000)])
        try socket.connect(endpoint)
        #expect(try socket.send([Array("GET / HTTP/1.1".utf8)]))
    }
}

@Suite("Closing of a bus")
struct ClosingTests {
    @Test("A bus that no broker has answered closes at once", .timeLimit(.minutes(1)))
    func noBroker() async throws {
        try await TestBroker.withDirectory { broker in
            let isClosed = try await isClosedAtOnce(broker.bus()) { bus in await bus.waitUntil { $0.machine.isOpen } }
            #expect(isClosed)
        }
    }

    @Test("A bus that a broker has answered stays open for a moment before it closes", .timeLimit(.minutes(1)))
    func brokerGone() async throws {
        try await TestBroker.withDirectory { broker in
            let bus = try broker.bus()
            let isClosed = try await isClosedAtOnce(bus) { bus in
                try await broker.run { try await bus.waitUntilConnected(timeout: .seconds(30)) }
            }
            #expect(!isClosed)
        }
    }

    @Test("A bus that is cancelled before or during its start closes", .timeLimit(.minutes(1)))
    func cancelledEarly() async throws {
        for turns in 0..<100 {
            try await TestBroker.withDirectory { broker in
                let bus = try broker.bus()
                await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await bus.run() }
                    for _ in 0..<turns { await Task.yield() }
                    group.cancelAll()
                }
                #expect(await bus.isClosed)
            }
        }
    }

    /// Runs the bus until `body` returns, then ends it.
    /// - Returns: True if the bus was closed directly after it was told to end.
    private func isClosedAtOnce(
        _ bus: ZeroMQEventBus, after body: @escaping @Sendable (ZeroMQEventBus) async throws -> Void
    ) async throws -> Bool {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await bus.run() }
            try await body(bus)
            let isClosed = await bus.isClosedAfterLeaving()
            while let end = await group.nextResult() {
                #expect(throws: CancellationError.self) { try end.get() }
            }
            return isClosed
        }
    }
}

extension ZeroMQEventBus {
    fileprivate var isClosed: Bool { machine.isClosed }

    fileprivate func isClosedAfterLeaving() -> Bool {
        leave()
        return isClosed
    }
}
