import Contracts
import EventBus
import Logging
import SegueTestSupport
import TestSupport
import Testing

@testable import ServiceRuntime

@Suite("Presence of a process", .timeLimit(.minutes(1)))
struct AnnouncementTests {
    private let greeter = Greeter()

    private var published: (presences: Int, contracts: Int) {
        get async throws {
            (
                try await greeter.watcher.journalled(Document.Presence.self).count,
                try await greeter.watcher.journalled(Document.ServiceContract.self).count
            )
        }
    }

    @Test("Presence and contract are published once, and an idle process adds nothing to the journal")
    func idle() async throws {
        try await greeter.running {
            try await greeter.watcher.send(Command.Greet(name: "Ada"))
            try await greeter.metrics { $0.handled == 1 && $0.lag == 0 }
            let end = try await greeter.watcher.inspect.end()
            for _ in 0..<60 {
                greeter.clock.advance(by: .seconds(60))
                // The process runs: it answers after each minute.
                #expect(try await greeter.metrics()?.handled == 1)
            }
            #expect(try await greeter.watcher.inspect.end() == end)
            #expect(try await published == (1, 1))
        }
        #expect(try await published == (2, 2), "both are withdrawn")
    }

    @Test("Presence names the durable consumers that the process declares", arguments: [nil, ["greeter", "waiter"]])
    func consumers(declared: [String]?) async throws {
        let hub = InMemoryHub()
        let process = ServiceProcess("greeter", instance: "i1", consumers: declared)
        let context = ServiceContext(
            process: process, bus: EventBus.inMemory(source: process.source, hub: hub), busAddress: "ipc:///nowhere",
            configuration: ServiceConfiguration(environment: [:]), logger: .silent)
        let watcher = EventBus.inMemory(source: "watcher/1", hub: hub)
        try await withRunning(Announcement(context: context, ready: [], clock: greeter.clock)) {
            let presence = try await watcher.received(Document.Presence.self)[0].decode(Document.Presence.self)
            #expect(presence.consumers == declared)
            #expect(presence.runs(consumer: "greeter") && presence.runs(consumer: "waiter") == (declared != nil))
            let contract = try await watcher.received(Document.ServiceContract.self)[0]
            #expect(try contract.decode(Document.ServiceContract.self).consumers == declared)
        }
    }

    @Test("Presence without consumers means the consumer with the process's name", arguments: [nil, []] as [[String]?])
    func withoutConsumers(consumers: [String]?) {
        let presence = Document.Presence(
            name: "a", version: "1", instance: "i", pid: 7, receives: [], sends: [], consumers: consumers)
        #expect(presence.runs(consumer: "a"))
        #expect(!presence.runs(consumer: "b"))
    }
}
