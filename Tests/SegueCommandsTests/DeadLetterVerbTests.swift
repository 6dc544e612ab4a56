import BusStranger
import CommandLineTestSupport
import EventBus
import Foundation
import TestSupport
import Testing

@Suite("'segue dead'", .timeLimit(.minutes(1)))
struct DeadLetterVerbTests {
    private func greeting(_ name: String, _ type: String = "command.Greet") throws -> Envelope {
        var attributes = Attributes(type: try #require(MessageType(type)), source: "test/1", subject: "alice")
        attributes.expire(after: .seconds(60))
        return Envelope(attributes: attributes, data: Data(#"{"name":"\#(name)"}"#.utf8))
    }

    /// Publishes a message and makes a consumer give it up.
    /// - Returns: The id of the dead letter.
    @discardableResult
    private func giveUp(_ message: Envelope, _ consumer: String, on bus: EventBus) async throws -> Int64 {
        let claim = try await bus.engine.claim(consumer: consumer, as: .exclusive)
        let position = try await bus.publish(Batch([message]))
        let rejection = Rejection(code: "\(consumer).failed", reason: "it could not; see its log", attempts: 4)
        let checkpoint = Checkpoint(
            claim: claim, position: position, partition: Partition(subject: message.subject), previous: nil,
            settled: position.offset)
        try await bus.publish(Batch([], checkpoint: checkpoint, rejection: rejection))
        return try #require(try await bus.inspect.deadLetters(of: consumer).last).id
    }

    @Test(
        "'segue dead list' and 'show' print dead letters with their consumer and reason", arguments: BusEngine.allCases)
    func list(engine: BusEngine) async throws {
        let (ada, grace) = (try greeting("Ada"), try greeting("Grace"))
        try await SegueCommandLine.onBus(engine) { segue in
            #expect(try await segue("dead", "list").error == "segue: there are no dead letters\n")
            let (first, second) = try await segue.withConnection { bus in
                (try await giveUp(ada, "waiter", on: bus), try await giveUp(grace, "greeter", on: bus))
            }
            let table = try await segue("dead", "list")
            #expect(table.lines.count == 3)
            #expect(table.lines[1].hasPrefix("\(first) ") && table.lines[1].contains("waiter"))
            #expect(table.lines[2].contains("greeter") && table.lines[2].hasSuffix("it could not; see its log"))

            let json = try await segue("dead", "list", "--consumer", "greeter", "--json")
            let deadLetter = try JSONDecoder().decode(Letter.self, from: Data(json.output.utf8))
            #expect(json.lines.count == 1)
            let expected = Letter(
                id: second, consumer: "greeter", code: "greeter.failed", attempts: 4, message: grace)
            #expect(deadLetter == expected)

            let shown = try await segue("dead", "show", "\(first)")
            for text in ["waiter after 4 attempts", "waiter.failed", ada.id, #""name" : "Ada""#] {
                #expect(shown.output.contains(text), "\(text)")
            }
        }
    }

    @Test(
        "'segue dead resend' sends a copy to the consumer that gave it up, and removes the dead letter",
        arguments: BusEngine.allCases)
    func resend(engine: BusEngine) async throws {
        let ada = try greeting("Ada")
        try await SegueCommandLine.onBus(engine) { segue in
            let deadLetter = try await segue.withConnection { try await giveUp(ada, "greeter", on: $0) }
            let resent = try await segue("dead", "resend", "\(deadLetter)")
            #expect(resent.status == 0, "\(resent.error)")
            #expect(try await segue("dead", "list").output.isEmpty)
            let copy = try await segue.withConnection { bus in
                try await bus.withSubscription(to: [.all], from: .beginning) { messages in
                    for try await message in messages where message.id != ada.id && message.type == ada.type {
                        return message
                    }
                    throw CancellationError()
                }
            }
            #expect(resent.output.hasPrefix("\(deadLetter) \(copy.id) "))
            #expect(copy.attributes.recipient == "greeter")
            #expect(copy.attributes.causationID == ada.id)
            #expect(copy.attributes.correlationID == ada.id)
            #expect(copy.subject == "alice" && copy.data == ada.data)
            let expiry = try #require(copy.attributes.expiryTime)
            #expect(expiry.timeIntervalSince(copy.attributes.time) == 60)
        }
    }

    @Test("'segue dead resend' can send all dead letters of a consumer, in order", arguments: BusEngine.allCases)
    func resendAll(engine: BusEngine) async throws {
        let messages = try ["Ada", "Grace", "Barbara"].map { try greeting($0) }
        try await SegueCommandLine.onBus(engine) { segue in
            let deadLetters = try await segue.withConnection { bus in
                var deadLetters: [Int64] = []
                for (message, consumer) in zip(messages, ["waiter", "greeter", "waiter"]) {
                    deadLetters.append(try await giveUp(message, consumer, on: bus))
                }
                return deadLetters
            }
            let resent = try await segue("dead", "resend", "--all", "--consumer", "waiter")
            #expect(resent.status == 0, "\(resent.error)")
            let numbers = resent.lines.map { $0.split(separator: " ").first.flatMap { Int64($0) } }
            #expect(numbers == [deadLetters[0], deadLetters[2]])
            let left = try await segue("dead", "list", "--json")
            #expect(left.lines.count == 1 && left.output.contains("greeter"))
        }
    }

    @Test("'segue dead resend' refuses a document that has changed since", arguments: BusEngine.allCases)
    func document(engine: BusEngine) async throws {
        let devices = try greeting("old", "document.Devices")
        let newer = try greeting("new", "document.Devices")
        try await SegueCommandLine.onBus(engine) { segue in
            let deadLetter = try await segue.withConnection { bus in
                let deadLetter = try await giveUp(devices, "greeter", on: bus)
                try await bus.publish(Batch([newer]))
                return deadLetter
            }
            let resent = try await segue("dead", "resend", "--all")
            #expect(resent.status == 1)
            let line =
                "dead letter \(deadLetter) is a document.Devices that has changed since; drop it with "
                + "'segue dead drop \(deadLetter)'"
            #expect(resent.error == "segue: \(line)\n")
            #expect(try await segue("get", "Devices", "--subject", "alice", "--json").output == "{\"name\":\"new\"}\n")
        }
    }

    @Test("'segue dead drop' removes one dead letter, or all of a consumer", arguments: BusEngine.allCases)
    func drop(engine: BusEngine) async throws {
        let messages = try ["Ada", "Grace", "Barbara"].map { try greeting($0) }
        try await SegueCommandLine.onBus(engine) { segue in
            let deadLetters = try await segue.withConnection { bus in
                var deadLetters: [Int64] = []
                for (message, consumer) in zip(messages, ["waiter", "waiter", "greeter"]) {
                    deadLetters.append(try await giveUp(message, consumer, on: bus))
                }
                return deadLetters
            }
            #expect(try await segue("dead", "drop", "\(deadLetters[0])").status == 0)
            #expect(try await segue("dead", "list", "--json").lines.count == 2)
            #expect(try await segue("dead", "drop", "--all", "--consumer", "greeter").status == 0)
            let left = try await segue("dead", "list", "--json")
            #expect(left.lines.count == 1 && left.output.contains("waiter"))
        }
    }

    @Test("'segue dead drop' removes those that exist, and names the unknown numbers", arguments: BusEngine.allCases)
    func missing(engine: BusEngine) async throws {
        let messages = try ["Ada", "Grace"].map { try greeting($0) }
        try await SegueCommandLine.onBus(engine) { segue in
            let ids = try await segue.withConnection { bus in
                var ids: [Int64] = []
                for message in messages { ids.append(try await giveUp(message, "waiter", on: bus)) }
                return ids
            }
            let dropped = try await segue("dead", "drop", "98", "\(ids[0])", "99", "\(ids[1])")
            #expect(dropped.status == 1)
            #expect(dropped.error == "segue: there are no dead letters 98, 99; see 'segue dead list'\n")
            #expect(try await segue("dead", "list", "--json").output.isEmpty)
            let again = try await segue("dead", "drop", "\(ids[0])")
            #expect(again.error == "segue: there is no dead letter \(ids[0]); see 'segue dead list'\n")
        }
    }

    @Test("A message with an unreadable header is shown as it is, and cannot be resent")
    func unreadable() async throws {
        let type = MessageType(kind: .command, name: "Greet")
        try await SegueCommandLine.onBus { segue in
            try await Stranger.withConnection(to: "\(segue.bus)/ingress") { stranger in
                for (index, header) in [BadHeader.noJSON, .noUTF8].enumerated() {
                    _ = try stranger.publish(
                        [header.message(type, data: #"{"name":"Ada"}"#)], sequence: UInt64(index + 1))
                }
            }
            try await segue.withConnection { bus in
                try await bus.publish(Batch([greeting("Grace")]))
                try await withThrowingTaskGroup { group in
                    group.addTask { try await bus.consume(as: "greeter", [.type(type)]) { _ in [] } }
                    // An error is published with each dead letter.
                    try await bus.withSubscription(to: [.kind(.error)], from: .beginning) { errors in
                        var iterator = errors.makeAsyncIterator()
                        for _ in 0..<2 { _ = try await iterator.next() }
                    }
                    group.cancelAll()
                }
            }
            let table = try await segue("dead", "list")
            #expect(table.lines.count == 3, "\(table.error)")
            #expect(table.lines[1].contains("at 1 on command.Greet.3e"))
            let shown = try await segue("dead", "show", "1")
            for text in ["message.malformed", "header: {\n", #""name" : "Ada""#] {
                #expect(shown.output.contains(text), "\(shown.output)")
            }
            let json = try await segue("dead", "list", "--json")
            #expect(json.lines.count == 2 && json.lines[0].contains(#""message":{"header":"{","type":"command.Greet""#))
            let resent = try await segue("dead", "resend", "1")
            #expect(
                resent.error
                    == "segue: dead letter 1 has a header that cannot be read; drop it with 'segue dead drop 1'\n")
            #expect(try await segue("dead", "drop", "--all").status == 0)
            #expect(try await segue("dead", "list").output.isEmpty)
        }
    }

    @Test("An unknown or ambiguous argument is refused in one line, and changes nothing", arguments: BusEngine.allCases)
    func mistakes(engine: BusEngine) async throws {
        let ada = try greeting("Ada")
        try await SegueCommandLine.onBus(engine) { segue in
            let deadLetter = try await segue.withConnection { try await giveUp(ada, "greeter", on: $0) }
            for arguments in [["show", "7"], ["resend", "\(deadLetter)", "7"], ["drop", "7"]] {
                let result = try await segue.run(["dead"] + arguments)
                #expect(result.status == 1)
                #expect(result.error == "segue: there is no dead letter 7; see 'segue dead list'\n")
            }
            for arguments in [["resend"], ["drop", "1", "--all"], ["drop", "1", "--consumer", "c"], ["show", "x"]] {
                let result = try await segue.run(["dead"] + arguments)
                #expect(result.status == 64 && result.errorLines.count == 1, "\(arguments) \(result.error)")
            }
            #expect(try await segue("dead", "list", "--json").lines.count == 1)
        }
    }

    private struct Letter: Decodable, Equatable {
        struct Message: Decodable, Equatable {
            let id: String
            let data: [String: String]
        }

        let id: Int64
        let consumer: String
        let code: String
        let attempts: Int
        let message: Message

        init(id: Int64, consumer: String, code: String, attempts: Int, message: Envelope) {
            self.id = id
            self.consumer = consumer
            self.code = code
            self.attempts = attempts
            let data = try? JSONDecoder().decode([String: String].self, from: message.data)
            self.message = Message(id: message.id, data: data ?? [:])
        }
    }
}
