import Consuming
import Contracts
import EventBus
import Foundation
import Logging
import RuntimeTestSupport
import ServiceLifecycle
import ServiceLifecycleTestKit
import SystemSupport
import TestSupport
import Testing

@testable import ServiceRuntime

@Suite("A process's presence", .timeLimit(.minutes(1)))
struct AnnouncementTests {
    let hub = InMemoryHub(maximumGap: 1000)
    let watcher: EventBus
    let clock = ManualClock()
    let context: ServiceContext

    init() {
        watcher = EventBus.inMemory(source: "watcher/1", hub: hub)
        let process = ServiceProcess("greeter", instance: "i1")
        context = ServiceContext(
            process: process, bus: EventBus.inMemory(source: process.source, hub: hub), busAddress: "ipc:///nowhere",
            configuration: ServiceConfiguration(environment: [:]), logger: .silent)
    }

    /// Runs the process with a consumer that waits at a gate before each answer.
    private func running(
        gate: Gate? = nil, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let consumer = MessageConsumer("greeter", in: context)
            .on(Command.Greet.self) { command, _ in
                try await gate?.pass()
                if command.name == "nobody" { _ = try context.require("NOBODY") }
                return [DomainEvent.Greeted(name: command.name)]
            }
            .on(Command.Wave.self) { _, _ in [] }
        let host = ServiceHost(
            context: context, services: [consumer], notifier: Notifier(socketPath: nil), clock: clock)
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup { group in
                group.addTask { try await host.run() }
                try await body()
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
    }

    /// Lets the process compare its presence with the published one once.
    private func look() async throws {
        try await clock.sleepers()
        clock.advance(by: Announcement.interval)
        try await clock.sleepers()
    }

    private var presence: Document.Presence? {
        get async throws { try await watcher.document(Document.Presence.self, key: "i1") }
    }

    @Test("counts what was handled, and is quiet while there is nothing to do")
    func handled() async throws {
        try await running {
            try await watcher.send(Command.Greet(name: "Ada"))
            try await watcher.send(Command.Wave())
            // The lag may be published after the number of handled messages.
            while try await presence.map({ $0.handled != 2 || $0.lag != 0 }) ?? true { try await look() }
            let published = try await watcher.journalled(Document.Presence.self).count
            for _ in 0..<5 { try await look() }
            #expect(try await watcher.journalled(Document.Presence.self).count == published)
            #expect(try await watcher.journalled(Document.ServiceContract.self).count == 1, "it does not change")
        }
    }

    @Test("counts what was given up")
    func failed() async throws {
        try await running {
            let attributes = Attributes(type: Command.Greet.type, source: "stranger/1")
            try await watcher.publish(Batch([Envelope(attributes: attributes, data: Data("{}".utf8))]))
            while try await presence?.failed != 1 { try await look() }
            #expect(try await presence?.handled == 0)
        }
    }

    @Test("says how far its consumers are behind, and when they have caught up")
    func lag() async throws {
        let gate = Gate()
        try await running(gate: gate) {
            try await clock.sleepers()
            for name in ["Ada", "Grace", "Barbara"] { try await watcher.send(Command.Greet(name: name)) }
            while try await presence?.lag != 3 { try await look() }
            gate.open()
            while try await presence.map({ $0.handled == 3 && $0.lag == 0 }) != true { try await look() }
        }
    }

    @Test("names the durable consumers of its process once they have begun")
    func consumers() async throws {
        try await running {
            while try await presence?.consumers != ["greeter"] { try await look() }
            #expect(try await presence?.runs(consumer: "greeter") == true)
            #expect(try await presence?.runs(consumer: "waiter") == false)
        }
    }

    @Test("one that names no consumers is taken to run that of its own name", arguments: [nil, []] as [[String]?])
    func withoutConsumers(consumers: [String]?) {
        let presence = Document.Presence(
            name: "a", version: "1", instance: "i", pid: 7, receives: [], sends: [], consumers: consumers)
        #expect(presence.runs(consumer: "a"))
        #expect(!presence.runs(consumer: "b"))
    }

    /// A bus that makes the test fail if documents are read.
    private struct WithoutDocuments: ForwardingEngine {
        let inner: EventBus

        func documents(
            matching filters: [MessageFilter], after offset: UInt64, limit: Int
        ) async throws -> [Envelope] {
            Issue.record("documents are read")
            return []
        }
    }

    @Test("is kept up to date without reading anybody's")
    func unread() async throws {
        let bus = WithoutDocuments(inner: context.bus).bus
        let context = ServiceContext(
            process: context.process, bus: bus, busAddress: context.busAddress, configuration: context.configuration,
            logger: .silent)
        let announcement = Announcement(
            context: context, ready: [], clock: clock)
        try await withRunning(announcement) {
            _ = try await watcher.received(Document.Presence.self)
            for _ in 0..<3 { try await look() }
            #expect(try await watcher.journalled(Document.Presence.self).count == 1)
            #expect(try await watcher.journalled(Document.ServiceContract.self).count == 1)
        }
    }

    @Test("is one without figures when a process does not count")
    func withoutFigures() throws {
        let json = #"{"name":"a","version":"1","instance":"i","pid":7,"receives":["command.Greet"],"sends":[]}"#
        let presence = try JSONDecoder().decode(Document.Presence.self, from: Data(json.utf8))
        #expect(
            presence
                == Document.Presence(
                    name: "a", version: "1", instance: "i", pid: 7, receives: ["command.Greet"], sends: []))
        #expect((presence.handled, presence.failed, presence.lag) == (0, 0, 0))
        #expect(presence.consumers == nil)
    }

    @Test("counts nobody behind who waits, though other members handle newer messages")
    func sharedLag() async throws {
        let metrics = ConsumerMetrics()
        let consumer = MessageConsumer("greeter", bus: context.bus, logger: .silent, metrics: metrics)
            .on(Command.Greet.self) { command, _ in [DomainEvent.Greeted(name: command.name)] }
        try await withRunning(consumer) {
            let other = EventBus.inMemory(source: "greeter/2", hub: hub)
            let second = MessageConsumer("greeter", bus: other, logger: .silent)
                .on(Command.Greet.self) { command, _ in [DomainEvent.Greeted(name: command.name)] }
            try await withRunning(second) {
                for number in 0..<64 {
                    try await watcher.send(Command.Greet(name: "\(number)"), subject: "guest-\(number)")
                }
                _ = try await watcher.received(DomainEvent.Greeted.self, 64)
                while try await metrics.lag(on: context.bus) != 0 { await Task.yield() }
                #expect(metrics.handled < 64)
            }
        }
    }
}
