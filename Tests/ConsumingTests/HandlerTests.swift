import Consuming
import Contracts
import EventBus
import Foundation
import Logging
import Support
import TestSupport
import Testing

@Suite("Handlers")
struct HandlerTests {
    let bus = EventBus.inMemory(source: "greeter/1")

    /// A consumer that answers greetings. Its handler fails for some names.
    private func greeter() -> Handlers {
        Handlers("greeter", retries: .once)
            .on(Command.Greet.self, sends: DomainEvent.Greeted.self) { command, _ in
                switch command.name {
                case "nobody": throw ApplicationError(code: "greeter.nobody", message: "nobody is there")
                case "secret": throw Leak(secret: "token-4711")
                case "hasty": throw CancellationError()
                default: return [DomainEvent.Greeted(name: command.name)]
                }
            }
    }

    private struct Leak: Error {
        let secret: String
    }

    @Test("The result of a handler is published with its message as the cause")
    func causation() async throws {
        try await withRunning(greeter().service(on: bus)) {
            let origin = Origin(platform: "ios", device: "phone-1", instance: "list-2")
            let command = try await bus.send(Command.Greet(name: "Ada"), subject: "séance", origin: origin)
            let result = try #require(try await bus.received(DomainEvent.Greeted.self).first)
            #expect(result.attributes.source == "greeter/1")
            #expect(result.attributes.causationID == command.id)
            #expect(result.attributes.correlationID == command.id)
            #expect(result.subject == "séance")
            #expect(result.attributes.platform == "ios")
            #expect(result.attributes.device == "phone-1")
            #expect(result.attributes.instance == "list-2")
        }
    }

    @Test("A command that a handler returns has the default lifetime")
    func commandLifetime() async throws {
        let handlers = Handlers("greeter")
            .on(Command.Greet.self, sends: Command.Wave.self) { _, _ in [Command.Wave()] }
        try await withRunning(handlers.service(on: bus)) {
            try await bus.send(Command.Greet(name: "Ada"), origin: Origin(platform: "ios", device: "phone-1"))
            try await bus.send(Command.Greet(name: "Grace"))
            let waves = try await bus.received(Command.Wave.self, 2)
            #expect(waves.map { $0.attributes.expiryTime?.timeIntervalSince($0.attributes.time) } == [60, nil])
        }
    }

    @Test("The progress is recorded in one batch with the results")
    func progress() async throws {
        let command = try await withRunning(greeter().service(on: bus)) {
            let command = try await bus.send(Command.Greet(name: "Ada"))
            _ = try await bus.received(DomainEvent.Greeted.self)
            return command
        }
        #expect(try await bus.engine.claim(consumer: "greeter", as: .exclusive).position == command.position)
    }

    @Test("A message that was sent while the service was away is handled")
    func resumes() async throws {
        for name in ["Ada", "Grace", "Barbara"] {
            try await bus.send(Command.Greet(name: name))
            try await withRunning(greeter().service(on: bus)) {
                _ = try await bus.first(DomainEvent.Greeted.self) { $0.name == name }
            }
        }
        #expect(try await bus.journalled(DomainEvent.Greeted.self).count == 3)
    }

    @Test("Handlers of other partitions that never end do not delay a message", .timeLimit(.minutes(1)))
    func slowPartitions() async throws {
        let partitions = Dictionary(grouping: (0..<500).map { "session-\($0)" }, by: Partition.init(subject:))
        let subjects = partitions.values.compactMap(\.first)
        let (slow, fast) = (subjects.prefix(20), subjects[20])
        let gates = Dictionary(uniqueKeysWithValues: slow.map { ($0, Latch()) })
        let handlers = Handlers("greeter")
            .on(Command.Greet.self, sends: DomainEvent.Greeted.self) { command, context in
                if let gate = gates[context.cause.subject] {
                    try await context.publish(DomainEvent.Greeted(name: "wait, " + command.name))
                    try await gate.waitUntilOpen()
                }
                return [DomainEvent.Greeted(name: command.name)]
            }
        try await withRunning(handlers.service(on: bus)) {
            for subject in slow { try await bus.send(Command.Greet(name: subject), subject: subject) }
            _ = try await bus.received(DomainEvent.Greeted.self, slow.count)
            try await bus.send(Command.Greet(name: fast), subject: fast)
            let answer = try await bus.received(DomainEvent.Greeted.self, slow.count + 1)[slow.count]
            #expect(answer.subject == fast)
            for gate in gates.values { gate.open() }
            _ = try await bus.received(DomainEvent.Greeted.self, 2 * slow.count + 1)
        }
    }

    @Test("An expired command is discarded with a report")
    func expired() async throws {
        let handlers = Handlers("greeter")
            .on(Command.Greet.self) { _, _ in
                Issue.record("an expired command must not be handled")
                return []
            }
        try await withRunning(handlers.service(on: bus, now: { Date() + 61 })) {
            let command = try await bus.send(
                Command.Greet(name: "Ada"), origin: Origin(platform: "ios", device: "phone-1"))
            let discarded = try await bus.received(DomainEvent.MessageDiscarded.self)[0]
            let event = try discarded.decode(DomainEvent.MessageDiscarded.self)
            #expect(event.messageID == command.id)
            #expect(event.reason == "expired")
        }
    }

    @Test("An application error is published as the handler threw it")
    func applicationError() async throws {
        try await withRunning(greeter().service(on: bus)) {
            try await bus.send(Command.Greet(name: "nobody"))
            let error = try await bus.received(ApplicationError.self)[0].decode(ApplicationError.self)
            #expect(error == ApplicationError(code: "greeter.nobody", message: "nobody is there"))
        }
    }

    @Test("The details of any other error are not published")
    func otherError() async throws {
        try await withRunning(greeter().service(on: bus)) {
            try await bus.send(Command.Greet(name: "secret"))
            let envelope = try await bus.received(ApplicationError.self)[0]
            #expect(try envelope.decode(ApplicationError.self).code == "greeter.failed")
            #expect(!String(decoding: envelope.data, as: UTF8.self).contains("token-4711"))
        }
    }

    @Test("A cancellation by the handler itself counts as a failure, and the service continues")
    func cancelledWork() async throws {
        try await withRunning(greeter().service(on: bus)) {
            try await bus.send(Command.Greet(name: "hasty"))
            try await bus.send(Command.Greet(name: "Ada"))
            _ = try await bus.received(DomainEvent.Greeted.self)
        }
        let error = try await bus.journalled(ApplicationError.self)[0].decode(ApplicationError.self)
        #expect(error.code == "greeter.failed")
    }

    @Test("An error about an error is not published")
    func errorAboutError() async throws {
        let handlers = Handlers("greeter")
            .on(ApplicationError.self) { _, _ in throw ApplicationError(code: "greeter.worse", message: "worse") }
            .on(Command.Greet.self, sends: DomainEvent.Greeted.self) { command, _ in
                [DomainEvent.Greeted(name: command.name)]
            }
        try await withRunning(handlers.service(on: bus)) {
            try await bus.publish(ApplicationError(code: "first", message: "the first"))
            try await bus.send(Command.Greet(name: "Ada"))
            _ = try await bus.received(DomainEvent.Greeted.self)
        }
        #expect(try await bus.journalled(ApplicationError.self).count == 1)
    }

    @Test("A handler can publish messages before it ends")
    func interim() async throws {
        let gate = Latch()
        let handlers = Handlers("greeter")
            .on(Command.Greet.self, sends: DomainEvent.Greeted.self) { command, context in
                try await context.publish(DomainEvent.Greeted(name: "wait, " + command.name))
                try await gate.waitUntilOpen()
                return [DomainEvent.Greeted(name: command.name)]
            }
        try await withRunning(handlers.service(on: bus)) {
            let command = try await bus.send(Command.Greet(name: "Ada"))
            let interim = try await bus.received(DomainEvent.Greeted.self)[0]
            #expect(try interim.decode(DomainEvent.Greeted.self).name == "wait, Ada")
            #expect(interim.attributes.causationID == command.id)
            gate.open()
            let last = try await bus.received(DomainEvent.Greeted.self, 2)[1]
            #expect(try last.decode(DomainEvent.Greeted.self).name == "Ada")
        }
    }

    @Test("Handlers list the messages that they receive and send")
    func contract() {
        let handlers = greeter()
            .on(Command.Wave.self, sends: Document.ErrorBanner.self) { _, _ in [] }
            .answer(Query.Salutation.self) { query, _ in Query.Salutation.Answer(text: query.name) }
            .reading(DomainEvent.LaunchFinished.self)
        #expect(
            handlers.receives.types == [
                Command.Greet.type, Command.Wave.type, Query.Salutation.type, DomainEvent.LaunchFinished.type,
                DomainEvent.SessionEnded.type,
            ])
        #expect(
            handlers.sends.types == [
                DomainEvent.Greeted.type, Document.ErrorBanner.type, DomainEvent.MessageDiscarded.type,
                ApplicationError.type,
            ])
        #expect(handlers.consumes == [Command.Greet.type, Command.Wave.type, DomainEvent.SessionEnded.type])
        #expect(
            handlers.sendsByHandler == [
                Command.Greet.type: [DomainEvent.Greeted.type], Command.Wave.type: [Document.ErrorBanner.type],
            ])
    }

    @Test(
        "A message that a handler does not declare is not published, and its cause is given up at once",
        arguments: [true, false])
    func undeclared(atOnce: Bool) async throws {
        let handlers = greeter()
            .on(Command.Wave.self) { _, context in
                if atOnce { try await context.publish(DomainEvent.Greeted(name: "wave")) }
                return [DomainEvent.Greeted(name: "wave")]
            }
        try await withRunning(handlers.service(on: bus)) {
            let wave = try await bus.send(Command.Wave())
            try await bus.send(Command.Greet(name: "Ada"))
            _ = try await bus.received(DomainEvent.Greeted.self)
            let deadLetters = try await bus.inspect.deadLetters(of: "greeter")
            #expect(deadLetters.map(\.message.id) == [wave.id])
            #expect(deadLetters.map(\.rejection.code) == ["greeter.invalid"])
            #expect(
                deadLetters[0].rejection.reason
                    == "greeter sends event.Greeted, which its handler of command.Wave does not declare; see its log")
        }
        #expect(try await bus.journalled(DomainEvent.Greeted.self).count == 1)
    }
}
