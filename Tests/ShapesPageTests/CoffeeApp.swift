import Consuming
import Contracts
import Coordinator
import ErrorNotification
import EventBus
import Foundation
import Logging
import Navigation
import ServiceLifecycle
import Support

extension Command { struct CoffeeOrdered: CommandMessage { var kind: String } }
extension DomainEvent { struct CoffeeServed: EventMessage { var kind: String } }

let barista = Handlers("barista")
    .on(Command.CoffeeOrdered.self, sends: DomainEvent.CoffeeServed.self) { order, _ in
        [DomainEvent.CoffeeServed(kind: order.kind)]
    }

func coffeeFlow() throws -> Flow {
    try Flow("coffee", version: 1, platform: "counter", start: "menu") {
        Flow.Screen("menu", sends: ["command.CoffeeOrdered"])
        Flow.Screen("cup")
        Flow.Transition(on: "event.CoffeeServed", do: [.push(.screen("cup", ["kind": "${data.kind}"]))])
    }
}

/// An app that is one process.
struct CoffeeApp {
    let hub: InMemoryHub
    private let file: URL
    private let logger = Logger(label: "coffee")

    /// Continues with the content of a file, if there is one.
    init(file: URL) throws {
        self.file = file
        guard FileManager.default.fileExists(atPath: file.path) else {
            hub = InMemoryHub(journalLimit: 1000)
            return
        }
        hub = InMemoryHub(try SavedHub(try Data(contentsOf: file)), journalLimit: 1000)
    }

    /// The services. In a stack, each of them is a process.
    private func services() throws -> [any Service] {
        [
            Coordinator(
                flow: try coffeeFlow(), bus: EventBus.inMemory(source: "coordinator/1", hub: hub), logger: logger),
            ErrorNotifier(bus: EventBus.inMemory(source: "error-notifier/1", hub: hub), logger: logger),
            HandlerService(barista, bus: EventBus.inMemory(source: "barista/1", hub: hub), logger: logger),
        ]
    }

    /// Runs until the task is cancelled. The first error of a service ends all of them.
    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for service in try services() { group.addTask { try await service.run() } }
            for await _ in await hub.changes() { try await save() }
        }
    }

    /// Also to be called before the system ends the app.
    func save() async throws {
        try await hub.saved().data().write(to: file, options: .atomic)
    }
}
