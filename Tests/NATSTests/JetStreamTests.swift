import Foundation
import NATSTestSupport
import Support
import Testing

@testable import NATS

@Suite(.timeLimit(.minutes(3)))
struct JetStreamTests {
    private static let settings: JSONValue = [
        "name": "S", "subjects": ["s.>"], "storage": "file", "allow_direct": true, "metadata": ["color": "blue"],
    ]

    private func withStream(_ body: @escaping @Sendable (JetStream) async throws -> Void) async throws {
        try await withServer { _, connection async throws in
            let jetStream = JetStream(connection)
            _ = try await jetStream.createStream(Self.settings)
            try await body(jetStream)
        }
    }

    @Test func `A stream is created, read, changed and removed`() async throws {
        try await withStream { jetStream in
            #expect(try await jetStream.stream("S").metadata["color"] == "blue")
            var settings = try #require(try await jetStream.stream("S").settings.objectValue)
            settings["metadata"] = ["color": "red"]
            #expect(try await jetStream.updateStream(.object(settings)).metadata["color"] == "red")
            settings["storage"] = "memory"
            let other = JSONValue.object(settings)
            #expect(try await refusal { try await jetStream.createStream(other) } == .streamNameInUse)
            try await jetStream.deleteStream("S")
            #expect(try await refusal { try await jetStream.stream("S") } == .streamNotFound)
        }
    }

    @Test func `The wait for a consumer that delivers nothing, although it has messages, is limited`()
        async throws
    {
        let first = try await JetStream.firstSequence(0, of: "S") { .idle(lastConsumerSequence: nil) }
        #expect(first == nil)
        let error = try await failure {
            try await JetStream.firstSequence(2, of: "S") { .idle(lastConsumerSequence: nil) }
        }
        #expect(error == .timeout)
    }

    @Test func `A message with the same id is stored once`() async throws {
        try await withStream { jetStream in
            let first = try await jetStream.publish("s.a", body: [1], id: "one")
            let second = try await jetStream.publish("s.a", body: [1], id: "one")
            #expect(first.stream == "S")
            #expect(first.sequence == 1)
            #expect(!first.isDuplicate)
            #expect(second.sequence == 1)
            #expect(second.isDuplicate)
            #expect(try await failure { try await jetStream.publish("elsewhere", body: []) } == .noResponders)
        }
    }

    @Test func `A message can be stored without a task, and its result arrives once`() async throws {
        try await withStream { jetStream in
            let (results, writer) = AsyncStream.makeStream(of: Result<PublishAcknowledgement, any Error>.self)
            for (subject, headers) in [
                ("s.a", ["Nats-Msg-Id": "1"]), ("s.a", ["Nats-Msg-Id": "1"]),
                ("s.a", ["Nats-Expected-Last-Subject-Sequence": "7"]), ("elsewhere", [:]), ("a space", [:]),
            ] as [(String, NATSHeaders)] {
                jetStream.publish(subject, headers: headers, body: [1], timeout: .seconds(5)) { writer.yield($0) }
                var iterator = results.makeAsyncIterator()
                let result = await iterator.next()
                switch (subject, result) {
                case ("s.a", .success(let acknowledgement)?): #expect(acknowledgement.sequence == 1)
                case ("s.a", .failure(let error as JetStreamError)?): #expect(error.code == .wrongLastSequence)
                case ("elsewhere", .failure(let error as NATSError)?): #expect(error.code == .noResponders)
                case ("a space", .failure(let error as NATSError)?): #expect(error.code == .invalid)
                default: Issue.record("\(subject): \(String(describing: result))")
                }
            }
            #expect(jetStream.connection.pendingReplyCount == 0)
        }
    }

    @Test func `A heartbeat has the last message that was sent`() async throws {
        try await withStream { jetStream in
            for _ in 0..<3 { try await jetStream.publish("s.a", body: [1]) }
            let pulling = PullSettings(heartbeat: .milliseconds(200))
            let last = try await jetStream.withConsumer(of: "S", ConsumerSettings(), pulling: pulling) { consumer in
                var received = 0
                while true {
                    switch try await consumer.next() {
                    case .message(let message): received = message.consumerSequence
                    case .idle(let last):
                        #expect(received == 3)
                        return last
                    }
                }
            }
            #expect(last == 3)
        }
    }

    @Test func `The first message from a sequence on is found by its subject`() async throws {
        try await withStream { jetStream in
            for subject in ["s.a", "s.b", "s.a", "s.b"] { try await jetStream.publish(subject, body: []) }
            #expect(try await jetStream.nextMessage(of: "S", subject: "s.a", from: 1)?.sequence == 1)
            #expect(try await jetStream.nextMessage(of: "S", subject: "s.a", from: 2)?.sequence == 3)
            #expect(try await jetStream.nextMessage(of: "S", subject: "s.*", from: 2)?.sequence == 2)
            #expect(try await jetStream.nextMessage(of: "S", subject: "s.a", from: 4)?.sequence == nil)
            #expect(try await jetStream.nextMessage(of: "S", subject: "s.>", from: 5)?.sequence == nil)
        }
    }

    @Test func `An unmet expectation prevents the storing`() async throws {
        try await withStream { jetStream in
            try await jetStream.publish("s.fence", body: [], expecting: LastSequence(0))
            let second = try await jetStream.publish("s.x", body: [], expecting: LastSequence(1, of: "s.fence"))
            #expect(second.sequence == 2)
            let stale = { try await jetStream.publish("s.x", body: [], expecting: LastSequence(0, of: "s.fence")) }
            #expect(try await refusal(of: stale) == .wrongLastSequence)
            let again = { try await jetStream.publish("s.fence", body: [], expecting: LastSequence(0)) }
            #expect(try await refusal(of: again) == .wrongLastSequence)
            #expect(try await jetStream.stream("S").lastSequence == 2)
        }
    }

    @Test func `A full stream refuses messages`() async throws {
        try await withServer { _, connection async throws in
            let jetStream = JetStream(connection)
            _ = try await jetStream.createStream([
                "name": "S", "subjects": ["s.>"], "max_bytes": 4096, "discard": "new", "max_msg_size": 2048,
            ])
            let fitting = { try await jetStream.publish("s.a", body: [UInt8](repeating: 0, count: 2000)) }
            _ = try await fitting()
            #expect(try await refusal { for _ in 0..<2 { _ = try await fitting() } } == .limitReached)
            let large = { try await jetStream.publish("s.a", body: [UInt8](repeating: 0, count: 4000)) }
            #expect(try await refusal(of: large) == .messageTooLarge)
        }
    }

    @Test func `Single messages are read with their headers`() async throws {
        try await withStream { jetStream in
            let before = Int64(Date().timeIntervalSince1970) * 1_000_000_000
            try await jetStream.publish("s.a", headers: ["Color": "blue"], body: [0, 255])
            try await jetStream.publish("s.a", body: [])
            let first = try #require(try await jetStream.message(of: "S", sequence: 1))
            #expect(first.subject == "s.a")
            #expect(first.headers == ["Color": "blue"])
            #expect(first.body == [0, 255])
            #expect(first.time > before && first.time < before + 60_000_000_000)
            let last = try #require(try await jetStream.lastMessage(of: "S", subject: "s.a"))
            #expect(last.sequence == 2)
            #expect(last.body == [])
            #expect(try await jetStream.message(of: "S", sequence: 3) == nil)
            #expect(try await jetStream.lastMessage(of: "S", subject: "s.b") == nil)
        }
    }

    @Test func `The last messages of many subjects are read in one request`() async throws {
        try await withStream { jetStream in
            for round in 0..<2 {
                for number in 0..<30 {
                    try await jetStream.publish("s.\(number)", headers: ["Round": "\(round)"], body: [UInt8(number)])
                }
            }
            let first = try await jetStream.lastMessages(of: "S", filters: ["s.*"], batch: 20)
            #expect(first.messages.map(\.sequence) == Array(31...50))
            #expect(first.messages.allSatisfy { $0.headers == ["Round": "1"] })
            #expect(first.end == 60)
            let rest = try await jetStream.lastMessages(of: "S", filters: ["s.*"], from: 51, batch: 20)
            #expect(rest.messages.map(\.sequence) == Array(51...60))
            #expect(rest.messages.map(\.body) == (20..<30).map { [$0] })
            #expect(try await jetStream.lastMessages(of: "S", filters: ["s.none"]).messages.isEmpty)
        }
    }

    @Test func `A purge removes messages by subject, sequence and number`() async throws {
        try await withStream { jetStream in
            for number in 0..<20 { try await jetStream.publish("s.\(number % 2)", body: []) }
            #expect(try await jetStream.purge("S", filter: "s.0", before: 11) == 5)
            #expect(try await jetStream.purge("S", filter: "s.1", keep: 2) == 8)
            #expect(try await jetStream.stream("S").messageCount == 7)
        }
    }

    @Test func `A consumer delivers 10,000 messages in order`() async throws {
        try await withStream { jetStream in
            try await withThrowingTaskGroup { group in
                for lane in 0..<10 {
                    group.addTask {
                        for number in 0..<1000 {
                            let body = Array("\(lane) \(number)".utf8)
                            try await jetStream.publish("s.\(lane)", body: body, timeout: .seconds(60))
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await jetStream.withConsumer(of: "S", ConsumerSettings(filters: ["s.>"])) { consumer in
                #expect(consumer.initialPending == 10_000)
                var lanes = [Int](repeating: 0, count: 10)
                for expected in 1...10_000 {
                    let delivered = try await consumer.nextMessage()
                    #expect(delivered.streamSequence == expected)
                    #expect(delivered.consumerSequence == expected)
                    #expect(delivered.pending == 10_000 - expected)
                    let lane = try #require(Int(delivered.subject.dropFirst(2)))
                    #expect(delivered.message.body == Array("\(lane) \(lanes[lane])".utf8))
                    lanes[lane] += 1
                }
            }
        }
    }

    @Test func `Large messages are delivered in requests of a limited size`() async throws {
        try await withStream { jetStream in
            for number in 0..<20 {
                try await jetStream.publish("s.a", body: [UInt8](repeating: UInt8(number), count: 1 << 20))
            }
            let pulling = PullSettings(maximumSize: 3 << 20)
            try await jetStream.withConsumer(of: "S", ConsumerSettings(), pulling: pulling) { consumer in
                for number in 0..<20 {
                    let message = try await consumer.nextMessage().message
                    #expect(message.bodySize == 1 << 20)
                    #expect(message.withBody { $0.first } == UInt8(number))
                }
            }
        }
    }

    @Test func `A consumer fails when its server is killed`() async throws {
        try await withServer { server, connection in
            let jetStream = JetStream(connection)
            _ = try await jetStream.createStream(Self.settings)
            try await jetStream.withConsumer(of: "S", ConsumerSettings()) { consumer in
                let name = consumer.name
                async let kill: Void = {
                    while try await jetStream.waitingRequests("S", name) == 0 {}
                    try await server.kill()
                }()
                #expect(try await failure { while true { _ = try await consumer.next() } } == .disconnected)
                try await kill
            }
        }
    }

    @Test func `A consumer of a server that hangs misses its heartbeats`() async throws {
        try await withServer { server, connection in
            let jetStream = JetStream(connection)
            _ = try await jetStream.createStream(Self.settings)
            let pulling = PullSettings(expiry: .seconds(10), heartbeat: .milliseconds(200))
            try await jetStream.withConsumer(of: "S", ConsumerSettings(), pulling: pulling) { consumer in
                _ = try await consumer.next()
                server.pause()
                #expect(try await failure { while true { _ = try await consumer.next() } } == .timeout)
                server.resume()
            }
        }
    }

    @Test func `An idle consumer sends heartbeats, also beyond the end of a request`() async throws {
        try await withStream { jetStream in
            let pulling = PullSettings(window: 10, expiry: .seconds(3), heartbeat: .seconds(1))
            try await jetStream.withConsumer(of: "S", ConsumerSettings(), pulling: pulling) { consumer in
                for _ in 0..<5 {
                    guard case .idle = try await consumer.next() else { throw Unexpected(description: "a message") }
                }
                try await jetStream.publish("s.a", body: [7])
                #expect(try await consumer.nextMessage().message.body == [7])
            }
        }
    }

    @Test func `A consumer that collects messages requests one, and then all that are there`() async throws {
        try await withStream { jetStream in
            try await jetStream.connection.withSubscription(to: "$JS.API.CONSUMER.MSG.NEXT.S.*") { requests in
                let pulling = PullSettings(window: 10, gathering: .milliseconds(1))
                try await jetStream.withConsumer(of: "S", ConsumerSettings(), pulling: pulling) { consumer in
                    try await jetStream.publish("s.a", body: [1])
                    #expect(try await consumer.nextMessage().pending == 0)
                    for number in 2...25 { try await jetStream.publish("s.a", body: [UInt8(number)]) }
                    for number in 2...25 {
                        let delivered = try await consumer.nextMessage()
                        #expect(delivered.message.body == [UInt8(number)])
                        #expect(delivered.consumerSequence == number)
                    }
                }
                for size in [1, 1, 10, 10, 3] {
                    let request = try #require(try await requests.next().message)
                    #expect(try JSONValue(parsing: Data(request.body))["batch"]?.integerValue == size)
                }
            }
        }
    }

    @Test func `A consumer begins at a sequence, at a time, or with the last of each subject`() async throws {
        try await withStream { jetStream in
            for number in 0..<10 { try await jetStream.publish("s.\(number % 3)", body: [UInt8(number)]) }
            let middle = try #require(try await jetStream.message(of: "S", sequence: 5))
            for (start, expected) in [
                (ConsumerSettings.Start.sequence(8), [8, 9, 10]), (.time(middle.time), [5, 6, 7, 8, 9, 10]),
                (.lastPerSubject, [8, 9, 10]), (.beginning, Array(1...10)),
            ] {
                try await jetStream.withConsumer(of: "S", ConsumerSettings(start: start)) { consumer async throws in
                    for sequence in expected {
                        #expect(try await consumer.nextMessage().streamSequence == sequence)
                    }
                }
            }
            let headers = ConsumerSettings(filters: ["s.1"], headersOnly: true)
            try await jetStream.withConsumer(of: "S", headers) { consumer in
                let delivered = try await consumer.nextMessage()
                #expect(delivered.streamSequence == 2)
                #expect(delivered.message.bodySize == 0)
                #expect(delivered.message.header("Nats-Msg-Size") == "1")
            }
        }
    }

    @Test func `A reader gets an error when its consumer is removed`() async throws {
        try await withStream { jetStream in
            try await jetStream.withConsumer(of: "S", ConsumerSettings()) { consumer in
                let name = consumer.name
                async let deletion: Void = {
                    while try await jetStream.waitingRequests("S", name) == 0 {}
                    try await jetStream.call("CONSUMER.DELETE.S.\(name)")
                }()
                #expect(try await failureStatus { while true { _ = try await consumer.next() } } == 409)
                try await deletion
            }
        }
    }

    @Test func `A consumer is removed at the end of its scope`() async throws {
        try await withStream { jetStream in
            let name = try await jetStream.withConsumer(of: "S", ConsumerSettings()) { $0.name }
            let gone = { try await waitUntilRefused { try await jetStream.call("CONSUMER.INFO.S.\(name)") } }
            #expect(try await gone() == .consumerNotFound)
        }
    }

    private func failureStatus(_ operation: () async throws -> Void) async throws -> Int {
        do { try await operation() } catch let error as JetStreamError { return error.status }
        throw Unexpected(description: "the operation succeeded")
    }

    /// Repeats an operation until it is refused.
    private func waitUntilRefused<Result>(_ operation: () async throws -> Result) async throws -> JetStreamError.Code {
        while true {
            do { _ = try await operation() } catch let error as JetStreamError { return error.code }
        }
    }
}

extension ComparedConsumer {
    /// The next message, after any signs of life.
    func nextMessage() async throws -> DeliveredMessage {
        while true {
            if case .message(let message) = try await next() { return message }
        }
    }
}

extension JetStream {
    /// The number of requests for messages that wait at a consumer.
    func waitingRequests(_ stream: String, _ consumer: String) async throws -> Int {
        try await call("CONSUMER.INFO.\(stream).\(consumer)")["num_waiting"]?.integerValue ?? 0
    }
}
