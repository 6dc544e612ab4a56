import Consuming
import Contracts
import EventBus
import TestSupport
import Testing

@Suite("Handlers: end of a session")
struct HandlerSessionTests {
    let bus = EventBus.inMemory(source: "greeter/1")
    let forgotten = Calls<String>()

    private struct Guests: DocumentMessage {
        var room: String
        var key: String? { room }
    }

    /// A consumer that publishes a document for each greeting, with the name as its key.
    private func greeter() -> Handlers {
        Handlers("greeter")
            .on(Command.Greet.self, sends: Guests.self, DomainEvent.Greeted.self) { command, _ in
                [Guests(room: command.name), DomainEvent.Greeted(name: command.name)]
            }
            .onSessionEnded { [forgotten] context in forgotten.add(context.session) }
    }

    /// The keys of the retained documents of a session.
    private func rooms(_ session: String) async throws -> Set<String?> {
        Set(try await bus.documents(matching: [.type(Guests.type, subject: session)]).map(\.attributes.key))
    }

    @Test("The documents of a session are withdrawn when it ends, whatever their keys, and no others")
    func withdraws() async throws {
        try await withRunning(greeter().service(on: bus)) {
            for (name, session) in [("hall", "anna"), ("attic", "anna"), ("hall", "bert")] {
                try await bus.send(Command.Greet(name: name), subject: session)
                _ = try await bus.first(DomainEvent.Greeted.self) { $0.name == name }
            }
            _ = try await bus.received(DomainEvent.Greeted.self, 3)
            let ended = try await bus.endSession("anna")
            // A later message of the session is handled after its end.
            try await bus.send(Command.Greet(name: "cellar"), subject: "anna")
            _ = try await bus.first(DomainEvent.Greeted.self) { $0.name == "cellar" }
            #expect(try await rooms("anna") == ["cellar"])
            #expect(try await rooms("bert") == ["hall"])
            #expect(forgotten.all == ["anna"])
            let withdrawn = try await bus.withSubscription(to: [.type(Guests.type)], from: .beginning) { messages in
                var found: [Envelope] = []
                for try await message in messages where message.isTombstone {
                    found.append(message)
                    if found.count == 2 { break }
                }
                return found
            }
            #expect(Set(withdrawn.map(\.attributes.causationID)) == [ended.id])
        }
    }

    @Test("A service that looks for ended sessions declares to read the states of sessions, but receives none")
    func declaration() {
        let handlers = greeter().discardingCommandsOfEndedSessions()
        #expect(handlers.receives.types.contains(Document.NavigationState.type))
        #expect(!handlers.consumes.contains(Document.NavigationState.type))
        #expect(!greeter().receives.types.contains(Document.NavigationState.type))
    }

    @Test("A view's command after the end of its session is discarded, and all others are handled")
    func lateCommands() async throws {
        try await withRunning(greeter().discardingCommandsOfEndedSessions().service(on: bus)) {
            let phone = Origin(platform: "ios", device: "phone-1")
            try await bus.beginSession("anna")
            try await bus.send(Command.Greet(name: "in time"), subject: "anna", origin: phone)
            _ = try await bus.first(DomainEvent.Greeted.self) { $0.name == "in time" }
            try await bus.endSession("anna")
            let late = try await bus.send(Command.Greet(name: "late"), subject: "anna", origin: phone)
            let discarded = try await bus.received(DomainEvent.MessageDiscarded.self)[0]
            let event = try discarded.decode(DomainEvent.MessageDiscarded.self)
            #expect(event.messageID == late.id && event.reason == "the session has ended")
            #expect(try await rooms("anna").isEmpty)

            try await bus.send(Command.Greet(name: "without a view"), subject: "anna")
            _ = try await bus.first(DomainEvent.Greeted.self) { $0.name == "without a view" }
            try await bus.beginSession("anna")
            try await bus.send(Command.Greet(name: "again"), subject: "anna", origin: phone)
            _ = try await bus.first(DomainEvent.Greeted.self) { $0.name == "again" }
            #expect(try await bus.journalled(DomainEvent.MessageDiscarded.self).count == 1)
        }
    }
}
