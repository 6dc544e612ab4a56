import Consuming
import Contracts
import EventBus
import ServiceLifecycle
import TestSupport
import Testing

@testable import ServiceRuntime

@Suite("Programs in one process")
struct ProgramGroupTests {
    private let hub = InMemoryHub()

    private var greeter: ServiceProgram {
        ServiceProgram(
            Handlers("greeter").on(Command.Greet.self, sends: DomainEvent.Greeted.self) { command, _ in
                [DomainEvent.Greeted(name: command.name)]
            })
    }

    /// A service that a person uses.
    private struct Person: ForegroundService {
        let work: @Sendable () async throws -> Void

        func run() async throws { try await work() }
    }

    private func person(_ work: @escaping @Sendable (EventBus) async throws -> Void) -> ServiceProgram {
        ServiceProgram(ServiceProcess("person", instance: "p1")) { process in
            [Person { try await work(process.bus) }]
        }
    }

    private func group(_ programs: ServiceProgram...) -> ProgramGroup {
        ProgramGroup(programs, on: hub, configuration: ServiceConfiguration(environment: [:])) { _ in .silent }
    }

    @Test("Programs share a bus, are announced like processes, and end with the foreground program")
    func bus() async throws {
        let person = person { bus in
            try await bus.send(Command.Greet(name: "Ann"))
            #expect(try await bus.received(DomainEvent.Greeted.self)[0].attributes.source.hasPrefix("greeter/"))
            let presences = try await bus.first(Document.Presence.self) { $0.name == "greeter" }
            #expect(presences?.attributes.source.hasPrefix("greeter/") == true)
        }
        try await group(greeter, person).run()
        let watcher = EventBus.inMemory(source: "watcher/1", hub: hub)
        #expect(try await watcher.documents(matching: [.type(Document.Presence.self)]).isEmpty)
        #expect(try await watcher.inspect.consumers().map(\.memberCount) == [0])
    }

    private struct Failure: Error, CustomStringConvertible {
        let description = "it broke"
    }

    @Test("All programs end when one fails, and the error names it")
    func failure() async throws {
        let person = person { bus in
            _ = try await bus.received(Document.Presence.self, 2)
            throw Failure()
        }
        let error = await #expect(throws: ProgramFailure.self) { try await group(greeter, person).run() }
        #expect(error?.description == "person: it broke")
        let watcher = EventBus.inMemory(source: "watcher/1", hub: hub)
        #expect(try await watcher.documents(matching: [.type(Document.Presence.self)]).isEmpty)
    }

    @Test("No program starts if one cannot be created, and the error names it")
    func creation() async throws {
        let broken = ServiceProgram(ServiceProcess("broken")) { _ in throw Failure() }
        let error = await #expect(throws: ProgramFailure.self) { try await group(greeter, broken).run() }
        #expect(error?.description == "broken: it broke")
        #expect(await hub.end.offset == 0)
    }
}
