import BusConformance
import BusFormat
import EventBus
import Foundation
import NATS
import NATSLayout
import NATSTestSupport
import Support
import Synchronization
import TestSupport
import Testing

@testable import NATSEventBus

@Suite("Queries on NATS", .timeLimit(.minutes(3)))
struct QueryTests {
    @Test func `Several processes that serve a type take turns, and each asker gets one answer`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { first, second in
                let servers = try await first.whileAnswering { () async throws in
                    try await second.whileAnswering { () async throws in
                        var servers: [String] = []
                        for number in 0..<6 { servers.append(try await first.ask(number).server) }
                        return servers
                    }
                }
                #expect(servers.filter { $0 == first.source }.count == 3)
                #expect(servers.filter { $0 == second.source }.count == 3)
            }
        }
    }

    @Test func `A query is refused with 'unserved' at once when no process serves it, or none any longer`() async throws
    {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { asker, server in
                #expect(try await asker.code(of: 1) == .unserved)
                try await server.whileAnswering { () async throws in #expect(try await asker.ask(2).number == 2) }
                #expect(try await asker.code(of: 3) == .unserved)
                try await server.whileAnswering { () async throws in #expect(try await asker.ask(4).number == 4) }
            }
        }
    }

    @Test func `A query waits for a stopped process, or another one, until its deadline`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { asker, server in
                let who = server.journal.subject(.queryServers(Question.type))
                // A process that serves the type, and does not answer.
                try await server.journal.connection.withSubscription(to: who) { discoveries in
                    #expect(try await asker.code(of: 1, timeout: .seconds(2)) == .deadline)
                    while case .message(let message) = try await discoveries.next() {
                        if message.header("End") != nil { break }
                        // The second request of the first query.
                        try server.journal.connection.publish(who, headers: ["End": "1"])
                    }
                    let (isAsked, isAnswered) = (Latch(), Latch())
                    async let serving: Void = {
                        try await isAsked.waitUntilOpen()
                        try await server.whileAnswering { () async throws in try await isAnswered.waitUntilOpen() }
                    }()
                    async let answer = asker.ask(2)
                    _ = try await discoveries.next()
                    isAsked.open()
                    #expect(try await answer.number == 2)
                    isAnswered.open()
                    try await serving
                }
            }
        }
    }

    @Test func `One process answers several queries at a time`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { asker, server in
                let second = Latch()
                let numbers = try await server.whileAnswering { query in
                    // The first query is answered only after the second has arrived.
                    let number = try query.decode(Question.self).number
                    if number == 1 { await second.waitUntilOpenOrCancelled() } else { second.open() }
                    return try server.answer(query)
                } during: { () async throws in
                    async let one = asker.ask(1)
                    async let two = asker.ask(2)
                    return try await [one.number, two.number]
                }
                #expect(numbers == [1, 2])
            }
        }
    }

    @Test func `A query has a deadline, after which its server stops its work`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { asker, server in
                let stopped = Latch()
                try await server.whileAnswering { query in
                    await Latch().waitUntilOpenOrCancelled()
                    stopped.open()
                    return try server.answer(query)
                } during: { () async throws in
                    #expect(try await asker.code(of: 1, timeout: .milliseconds(300)) == .deadline)
                    try await stopped.waitUntilOpen()
                }
            }
        }
    }

    @Test func `A server stops its work when its asker is cancelled`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { asker, server in
                let (begun, stopped) = (Latch(), Latch())
                try await server.whileAnswering { query in
                    begun.open()
                    await Latch().waitUntilOpenOrCancelled()
                    stopped.open()
                    return try server.answer(query)
                } during: { () async throws in
                    await #expect(throws: CancellationError.self) {
                        try await withThrowingTaskGroup { group in
                            group.addTask { _ = try await asker.ask(1) }
                            try await begun.waitUntilOpen()
                            group.cancelAll()
                            try await group.waitForAll()
                        }
                    }
                    try await stopped.waitUntilOpen()
                }
            }
        }
    }

    @Test func `An asker gets an error when a server has stopped serving, or could not answer`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { asker, server in
                let begun = Latch()
                async let stopped: Void = server.whileAnswering { _ in
                    begun.open()
                    await Latch().waitUntilOpenOrCancelled()
                    throw CancellationError()
                } during: { () async throws in
                    try await begun.waitUntilOpen()
                }
                #expect(try await asker.codeWhenServed(of: 1) == .cancelled)
                try await stopped
                try await server.whileAnswering { query in
                    guard try query.decode(Question.self).number == 2 else { throw BusError(.malformed, "not\ntwo") }
                    return try server.answer(query)
                } during: { () async throws in
                    #expect(try await asker.code(of: 1) == .cancelled)
                    #expect(try await asker.ask(2).number == 2)
                }
            }
        }
    }

    @Test func `An asker gets an error when the process of its server has ended`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { asker, other in
                let instance = ProducerID().hexadecimal
                let connection = other.journal.connection
                let who = other.journal.subject(.queryServers(Question.type))
                let address = other.journal.subject(.queries(to: instance))
                try await connection.withSubscription(to: who) { discoveries in
                    async let pretending: Void = Self.pretend(instance, Question.type, discoveries, connection)
                    async let code = asker.code(of: 1)
                    // Takes the query, and then its address is gone.
                    try await connection.withSubscription(to: address) { queries in
                        _ = try await queries.next()
                    }
                    #expect(try await code == .unserved)
                    // It says that it serves the type, and nobody has its address.
                    #expect(try await asker.code(of: 1) == .unserved)
                    try connection.publish(who, headers: ["End": "1"])
                    try await pretending
                }
            }
        }
    }

    @Test func `A query whose server is silent or has forgotten it fails, and so does one with a hostile reply`()
        async throws
    {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { asker, other in
                let instance = ProducerID().hexadecimal
                let type = Question.type
                let (who, address) = (
                    other.journal.subject(.queryServers(type)), other.journal.subject(.queries(to: instance))
                )
                let connection = other.journal.connection
                // Pretends to serve the type, and answers each query in another way.
                try await connection.withSubscription(to: who) { discoveries in
                    try await connection.withSubscription(to: address) { queries in
                        async let pretending: Void = Self.pretend(instance, type, discoveries, connection)
                        for (reply, body, expected) in [
                            ("nonsense", [1, 2, 3], .cancelled), ("answer", [], .cancelled),
                            ("answer", [0, 0, 0, 9], .cancelled),
                            ("answer", [0, 0, 0, 1, 7, 0, 0, 0, 0], .cancelled), ("alive", [], .cancelled),
                            ("none", [], .cancelled), ("failed", [], .cancelled), ("refused", [], .unserved),
                        ] as [(String, [UInt8], BusError.Code)] {
                            async let code = asker.code(of: 1)
                            try await Self.reply(
                                to: queries, ["Segue-Instance": instance, "Segue-Reply": reply], body, connection)
                            #expect(try await code == expected, "\(reply) \(body)")
                        }
                        // Takes the query, and says to each ping that it does not know it.
                        async let forgotten = asker.code(of: 1)
                        for _ in 0..<2 {
                            while true {
                                guard case .message(let message) = try await queries.next() else { continue }
                                guard message.header("Segue-Query") == "ping", let reply = message.reply
                                else { continue }
                                try connection.publish(
                                    reply, headers: ["Segue-Reply": "unknown", "Segue-Instance": instance])
                                break
                            }
                        }
                        #expect(try await forgotten == .unserved)
                        // Says nothing at all.
                        async let silent = asker.code(of: 1)
                        #expect(try await silent == .unserved)
                        try connection.publish(who, headers: ["End": "1"])
                        try await pretending
                    }
                }
            }
        }
    }

    @Test func `A reply of a process that was not asked is ignored, and replies have subjects that cannot be guessed`()
        async throws
    {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { asker, server in
                let connection = server.journal.connection
                let replies = Mutex<[String]>([])
                // Anybody who may read the queries learns where the reply goes.
                let one = asker.journal.subject(.queries(to: "x"))
                try await connection.withSubscription(to: one.dropLast() + "*") { queries in
                    try await server.whileAnswering { query in
                        while true {
                            guard case .message(let message) = try await queries.next(),
                                message.header("Segue-Query") == "ask", let reply = message.reply
                            else { continue }
                            replies.withLock { $0.append(reply) }
                            for instance in [String(repeating: "0", count: 32), nil] {
                                var headers: NATSHeaders = ["Segue-Reply": "failed"]
                                headers["Segue-Instance"] = instance
                                try connection.publish(reply, headers: headers)
                            }
                            return try server.answer(query)
                        }
                    } during: { () async throws in
                        for number in 1...2 { #expect(try await asker.ask(number).number == number) }
                    }
                }
                let tokens = replies.withLock { $0.map { UInt64($0.split(separator: ".").last ?? "", radix: 36) ?? 0 } }
                #expect(tokens.count == 2 && tokens.allSatisfy { $0 > 1 << 32 })
            }
        }
    }

    private static func pretend(
        _ instance: String, _ type: MessageType, _ discoveries: NATSSubscription, _ connection: NATSConnection
    ) async throws {
        while true {
            guard case .message(let message) = try await discoveries.next() else { continue }
            if message.header("End") != nil { return }
            let serving = QueryPacket.serving(type, instance: instance)
            if let reply = message.reply { try connection.publish(reply, headers: serving.headers) }
        }
    }

    private static func reply(
        to queries: NATSSubscription, _ headers: NATSHeaders, _ body: [UInt8], _ connection: NATSConnection
    ) async throws {
        while true {
            guard case .message(let message) = try await queries.next(), message.header("Segue-Query") == "ask",
                let reply = message.reply
            else { continue }
            return try connection.publish(reply, headers: headers, body: body)
        }
    }

    @Test func `Messages that cannot be read do not stop a server or an asker`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { asker, server in
                try await server.whileAnswering { () async throws in
                    #expect(try await asker.ask(1).number == 1)
                    let address = try await server.addressOfServer()
                    let instance = String(repeating: "0", count: 32)
                    for kind in ["ask", "cancel", "ping", "serving", "answer", ""] {
                        for headers in [
                            ["Segue-Query": kind], ["Segue-Query": kind, "Segue-Asker": "x", "Segue-Number": "-1"],
                            ["Segue-Query": kind, "Segue-Asker": instance, "Segue-Number": "1"],
                            ["Segue-Query": kind, "Segue-Type": "query.Question", "Segue-Instance": "../x"],
                        ] as [NATSHeaders] {
                            try asker.journal.connection.publish(
                                address, reply: "nobody.\(kind)x", headers: headers, body: [1, 2])
                        }
                    }
                    #expect(try await asker.ask(2).number == 2)
                }
            }
        }
    }

    @Test func `A query or an answer that is too large is refused`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { asker, server in
                try await server.whileAnswering { query in
                    var answer = try server.answer(query)
                    if try query.decode(Question.self).number == 1 { answer.data = Data(count: 9 << 20) }
                    return answer
                } during: { () async throws in
                    #expect(try await asker.code(of: 1) == .cancelled)
                    var large = try Envelope(Question(number: 2), source: "x")
                    large.data = Data(count: 9 << 20)
                    let query = large
                    let error = await #expect(throws: BusError.self) {
                        _ = try await asker.queries.ask(query, timeout: .seconds(60))
                    }
                    #expect(error?.code == .refused)
                    #expect(try await asker.ask(3).number == 3)
                }
            }
        }
    }

    @Test func `A query is answered across a restart of the server`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { asker, server in
                try await server.whileAnswering { () async throws in
                    #expect(try await asker.ask(1).number == 1)
                    try await fixture.server.restart()
                    while true {
                        // The serving process may connect later than the asker.
                        do {
                            #expect(try await asker.ask(2).number == 2)
                            return
                        } catch let error as BusError where error.code == .unserved {}
                    }
                }
            }
        }
    }
}

extension BusParts {
    fileprivate func answer(_ query: Envelope) throws -> Envelope {
        let number = try query.decode(Question.self).number
        var answer = query
        answer.data = try JSONEncoder().encode(Question.Answer(number: number, server: source))
        return answer
    }

    fileprivate func whileAnswering<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await whileAnswering {
            try answer($0)
        } during: {
            try await body()
        }
    }

    fileprivate func whileAnswering<Result: Sendable>(
        _ answer: @escaping @Sendable (Envelope) async throws -> Envelope,
        during body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let serving = Latch()
        return try await withBackground([
            { try await queries.serve([Question.type], whenServing: serving.open, answer) }
        ]) {
            try await serving.waitUntilOpen()
            return try await body()
        }
    }

    fileprivate func ask(_ number: Int) async throws -> Question.Answer {
        let answer = try await queries.ask(
            try Envelope(Question(number: number), source: source), timeout: .seconds(60))
        return try JSONDecoder().decode(Question.Answer.self, from: answer.data)
    }

    fileprivate func code(of number: Int, timeout: Duration = .seconds(60)) async throws -> BusError.Code? {
        do {
            _ = try await queries.ask(try Envelope(Question(number: number), source: source), timeout: timeout)
            return nil
        } catch let error as BusError {
            return error.code
        }
    }

    /// Asks until a process serves the query.
    fileprivate func codeWhenServed(of number: Int) async throws -> BusError.Code? {
        while true {
            let code = try await code(of: number)
            if code != .unserved { return code }
        }
    }

    /// The address of the process that serves the type.
    fileprivate func addressOfServer() async throws -> String {
        let reply = try await journal.connection.request(
            journal.subject(.queryServers(Question.type)), timeout: .seconds(5))
        guard case .serving(_, let instance) = QueryPacket(reply) else { throw BusError(.unserved, "no server") }
        return journal.subject(.queries(to: instance))
    }
}
