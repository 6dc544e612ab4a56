import BusFormat
import BusProtocol
import BusSoak
import BusStranger
import Consuming
import Contracts
import Coordinator
import EventBus
import Logging
import Navigation
import ServiceRuntime
import TestSupport
import Testing
import ZeroMQEventBus

@Suite("Messages that no receiver can read", .timeLimit(.minutes(2)))
struct UnreadableHeaderTests {
    private struct Greet: CommandMessage {
        var name: String
    }

    /// Lets a stranger publish a message with each invalid header, before the valid messages.
    /// - Returns: The offsets of the invalid messages.
    private func publishBadHeaders(_ type: MessageType, in arena: Arena) async throws -> [UInt64] {
        try await Stranger.withConnection(to: "\(arena.bus)/ingress") { stranger in
            try BadHeader.allCases.enumerated().map { index, header in
                let reply = try stranger.publish([header.message(type)], sequence: UInt64(index + 1))
                guard case .published(_, let offset) = reply else { throw Stranger.NoAnswer() }
                return offset
            }
        }
    }

    @Test("A message with an unreadable header becomes a dead letter at once, is reported, and delays nothing")
    func service() async throws {
        try await Arena.with { arena in
            _ = try await arena.startBroker()
            let offsets = try await publishBadHeaders(Greet.type, in: arena)
            try await arena.withBus { bus in
                let good = try await bus.send(Greet(name: "Ada"))
                let handlers = Handlers("greeter")
                    .on(Greet.self, sends: DomainEvent.DeepLinkReceived.self) { greet, _ in
                        [DomainEvent.DeepLinkReceived(url: greet.name)]
                    }
                let greeted = try await withRunning(handlers.service(on: bus)) {
                    try await bus.received(DomainEvent.DeepLinkReceived.self)[0]
                }
                #expect(greeted.attributes.causationID == good.id)
                let deadLetters = try await bus.inspect.deadLetters(of: "greeter")
                #expect(deadLetters.map(\.message.position?.offset) == offsets)
                #expect(deadLetters.allSatisfy { $0.rejection.code == "message.malformed" })
                #expect(deadLetters.map { $0.message.unreadableHeader.map { Array($0.bytes) } } == Self.badHeaders)
                let errors = try await bus.journalled(ApplicationError.self).map {
                    try $0.decode(ApplicationError.self)
                }
                #expect(errors.map(\.code) == deadLetters.map(\.rejection.code))
                #expect(errors.map(\.message) == deadLetters.map(\.rejection.reason))
                for (offset, deadLetter) in zip(offsets, deadLetters) {
                    #expect(deadLetter.rejection.reason.hasPrefix("at \(offset) on command.Greet.3e: "))
                }
            }
        }
    }

    @Test("A durable consumer and a coordinator give up such a message as well, live and later")
    func otherConsumers() async throws {
        try await Arena.with { arena in
            _ = try await arena.startBroker()
            let later = try await publishBadHeaders(Greet.type, in: arena)
            try await arena.withBus { bus in
                let coordinator = Coordinator(flow: try Self.flow(), bus: bus, logger: .silent)
                let live = try await withRunning(coordinator) {
                    let live = try await publishBadHeaders(Greet.type, in: arena)
                    try await bus.send(Greet(name: "Ada"))
                    try await bus.withSubscription(
                        to: [.type(Document.NavigationState.self)], from: .retained
                    ) { messages in
                        for try await message in messages {
                            let state = try message.decode(Document.NavigationState.self).snapshot.state
                            if state.root.instance.screen == "home" { break }
                        }
                    }
                    return live
                }
                let claim = try await bus.engine.claim(consumer: "plain", as: .exclusive)
                await #expect(throws: CancellationError.self) {
                    try await bus.consume(under: claim, [.type(Greet.self)]) { message in
                        #expect(try message.decode(Greet.self).name == "Ada")
                        throw CancellationError()
                    }
                }
                for consumer in ["navigation-coordinator.ios", "plain"] {
                    let deadLetters = try await bus.inspect.deadLetters(of: consumer)
                    #expect(deadLetters.map(\.message.position?.offset) == later + live, "\(consumer)")
                }
            }
        }
    }

    @Test("A subscriber does not receive a message with an unreadable header; its log reports and counts each one")
    func subscriber() async throws {
        try await Arena.with { arena in
            _ = try await arena.startBroker()
            let recorder = LogRecorder()
            let bus = try EventBus.zeroMQ(address: arena.bus, source: "test/1", logger: recorder.logger)
            try await bus.whileOpen {
                try await bus.withSubscription(to: [.kind(.command)], from: .beginning) { messages in
                    _ = try await publishBadHeaders(Greet.type, in: arena)
                    try await bus.send(Greet(name: "Ada"))
                    var iterator = messages.makeAsyncIterator()
                    #expect(try await iterator.next()?.decode(Greet.self).name == "Ada")
                }
            }
            let counts = recorder.metadata("skipped", of: "warning: a message was skipped")
            #expect(counts == (1...BadHeader.allCases.count).map(String.init))
        }
    }

    @Test("Documents that cannot be read do not prevent the reading of others, or the start of a coordinator")
    func documents() async throws {
        try await Arena.with { arena in
            _ = try await arena.startBroker()
            let types = [Document.Presence.type, Document.NavigationState.type]
            try await Stranger.withConnection(to: "\(arena.bus)/ingress") { stranger in
                for (index, header) in BadHeader.allCases.enumerated() {
                    let reply = try stranger.publish(
                        types.map { header.message($0, key: header.rawValue) }, sequence: UInt64(index + 1))
                    guard case .published = reply else { throw Stranger.NoAnswer() }
                }
            }
            try await arena.withBus { bus in
                let presence = Document.Presence(
                    name: "n", version: "1", instance: "i", pid: 1, receives: [], sends: [])
                try await bus.publish(presence)
                let found = try await bus.documents(matching: [.type(Document.Presence.self)])
                #expect(try found.map { try $0.decode(Document.Presence.self).instance } == ["i"])
                #expect(try await bus.document(Document.Presence.self, key: "i") == presence)
                for header in BadHeader.allCases {
                    let type = Document.Presence.type
                    #expect(try await bus.document(type, subject: Session.default, key: header.rawValue) == nil)
                }
                try await withRunning(Coordinator(flow: try Self.flow(), bus: bus, logger: .silent)) {
                    let state = try await bus.document(Document.NavigationState.self, key: "ios")
                    #expect(state?.snapshot.state.root.instance.screen == "start")
                }
            }
        }
    }

    private static let badHeaders: [[UInt8]?] = BadHeader.allCases.map(\.bytes)

    private static func flow() throws -> Flow {
        try Flow("test", version: 1, platform: "ios", start: "start") {
            Flow.Screen("start", sends: ["command.Greet"])
            Flow.Screen("home")
            Flow.Transition(on: "command.Greet", do: [.setRoot("home")])
        }
    }
}
