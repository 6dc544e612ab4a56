import Consuming
import Contracts
import EventBus
import Foundation
import Logging
import TestSupport
import Testing

@Suite("Handlers: rejected messages", .timeLimit(.minutes(1)))
struct HandlerRejectionTests {
    let bus = EventBus.inMemory(source: "greeter/1")

    private var greeter: Handlers {
        Handlers("greeter", retries: .once)
            .on(Command.Greet.self, sends: DomainEvent.Greeted.self) { command, _ in
                [DomainEvent.Greeted(name: command.name)]
            }
    }

    private func malformed(_ type: MessageType) -> Envelope {
        Envelope(attributes: Attributes(type: type, source: "stranger/1"), data: Data(#"{"nom":"Ada"}"#.utf8))
    }

    @Test(
        "A message with malformed data becomes a dead letter at once, an error is published, and the consumer continues"
    )
    func malformedData() async throws {
        try await withRunning(greeter.service(on: bus)) {
            try await bus.publish(Batch([malformed(Command.Greet.type)]))
            try await bus.send(Command.Greet(name: "Grace"))
            #expect(try await bus.received(DomainEvent.Greeted.self).count == 1)
        }
        let error = try await bus.journalled(ApplicationError.self)[0].decode(ApplicationError.self)
        #expect(error.code == "message.malformed")
        #expect(error.message.contains("'name' is missing"))
        let deadLetter = try #require(try await bus.inspect.deadLetters(of: "greeter").first)
        #expect(deadLetter.rejection == Rejection(code: "message.malformed", reason: error.message, attempts: 1))
    }

    @Test(
        "A message whose results are refused becomes a dead letter, an error is published, and the consumer continues")
    func refusedResults() async throws {
        struct Unanswerable: Message {
            static var kind: MessageKind { .query }
        }
        let handlers =
            greeter
            .on(Command.Wave.self, sends: DomainEvent.Greeted.self, Unanswerable.self) { _, _ in
                [DomainEvent.Greeted(name: "nobody"), Unanswerable()]
            }
        let wave = try await withRunning(handlers.service(on: bus)) {
            let wave = try await bus.send(Command.Wave())
            try await bus.send(Command.Greet(name: "Ada"))
            let greeted = try await bus.received(DomainEvent.Greeted.self)[0]
            #expect(try greeted.decode(DomainEvent.Greeted.self).name == "Ada")
            return wave
        }
        let error = try await bus.journalled(ApplicationError.self)[0].decode(ApplicationError.self)
        #expect(error.code == "greeter.refused")
        let deadLetters = try await bus.inspect.deadLetters(of: "greeter")
        #expect(deadLetters.map(\.message.id) == [wave.id])
        #expect(deadLetters.first?.rejection.code == "greeter.refused")
    }

    struct Refusable: Message {
        static var kind: MessageKind { .query }
    }

    @Test(
        "`whenGivenUp` is published exactly when the handler's results are not",
        arguments: ["failed", "answered", "refused", "expired", "handled"])
    func givenUpDocument(outcome: String) async throws {
        let log = LogRecorder()
        let handlers = Handlers("greeter", retries: .once)
            .on(
                Command.Greet.self, sends: DomainEvent.Greeted.self, Refusable.self,
                whenGivenUp: { [DomainEvent.Greeted(name: "not \($0.name)")] }
            ) { _, _ in
                switch outcome {
                case "failed": throw BusError(.refused, "no")
                case "answered": throw ApplicationError(code: "greeter.shy", message: "no")
                case "refused": return [DomainEvent.Greeted(name: "Ada"), Refusable()]
                default: return [DomainEvent.Greeted(name: "Ada")]
                }
            }
        try await withRunning(handlers.service(on: bus, logger: log.logger)) {
            var command = try Envelope(Command.Greet(name: "Ada"), source: "device/1")
            if outcome == "expired" { command.attributes.expiryTime = Date(timeIntervalSince1970: 0) }
            try await bus.publish(Batch([command]))
            let greeted = try await bus.received(DomainEvent.Greeted.self)[0].decode(DomainEvent.Greeted.self)
            #expect(greeted.name == (outcome == "handled" ? "Ada" : "not Ada"))
        }
        #expect(try await bus.journalled(ApplicationError.self).count == (outcome == "handled" ? 0 : 1))
        // An answer to the person is no error of this process.
        let areErrors = ["failed": true, "answered": false, "expired": false][outcome]
        if let areErrors { #expect(log.lines.contains { $0.hasPrefix("error: ") } == areErrors, "\(log.text)") }
    }

    @Test("The consumer continues after a message that retention removed while it was retried")
    func removed() async throws {
        try await withRunning(greeter.service(on: RemovingBus(inner: bus).bus)) {
            try await bus.publish(Batch([malformed(Command.Greet.type)]))
            try await bus.send(Command.Greet(name: "Grace"))
            #expect(try await bus.received(DomainEvent.Greeted.self).count == 1)
        }
        let errors = try await bus.journalled(ApplicationError.self)
        #expect(try errors.map { try $0.decode(ApplicationError.self).code } == ["message.malformed"])
        #expect(try await bus.inspect.deadLetters(of: "greeter").isEmpty)
    }

    @Test("A dead letter of an error publishes no further error")
    func errorAboutError() async throws {
        let handlers =
            greeter
            .on(ApplicationError.self) { _, _ in throw CancellationError() }
        try await withRunning(handlers.service(on: bus)) {
            try await bus.publish(ApplicationError(code: "first", message: "the first"))
            try await bus.publish(Batch([malformed(ApplicationError.type)]))
            try await bus.send(Command.Greet(name: "Ada"))
            _ = try await bus.received(DomainEvent.Greeted.self)
        }
        #expect(try await bus.journalled(ApplicationError.self).count == 2)
        #expect(
            try await bus.inspect.deadLetters(of: nil).map(\.rejection.code) == ["greeter.failed", "message.malformed"])
    }

    @Test("A message that is sent again is handled only by the consumer that it names")
    func recipient() async throws {
        try await withRunning(greeter.service(on: bus)) {
            for (name, recipient) in [("Ada", "waiter"), ("Grace", "greeter")] {
                var envelope = try Envelope(Command.Greet(name: name), source: "segue/1")
                envelope.attributes.recipient = recipient
                try await bus.publish(Batch([envelope]))
            }
            let greeted = try await bus.received(DomainEvent.Greeted.self)[0]
            #expect(try greeted.decode(DomainEvent.Greeted.self).name == "Grace")
        }
        #expect(try await bus.journalled(DomainEvent.Greeted.self).count == 1)
    }

    @Test("A loss by retention is reported once, for the types that the service handles")
    func cutOffs() async throws {
        let cutOffs = [
            CutOff(type: Command.Greet.type, count: 3, offsets: 5...9),
            CutOff(type: Command.Wave.type, count: 2, offsets: 4...6),
        ]
        let cut = CutOffBus(bus: bus, cutOffs: cutOffs)
        for _ in 0..<2 { try await withRunning(greeter.service(on: cut.bus)) {} }
        let errors = try await bus.journalled(ApplicationError.self)
        #expect(errors.count == 1)
        let error = try #require(errors.first).decode(ApplicationError.self)
        #expect(error.code == "journal.cutoff")
        #expect(
            error.message
                == "retention removed messages that greeter had not handled: 3 command.Greet (offsets 5 to 9)")
    }
}
