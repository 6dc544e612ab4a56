import BusStranger
import EventBus
import Foundation
import GRDB
import SegueTestSupport
import TestSupport
import Testing

@Suite("Durable consumer in Python", .needsPython)
struct PythonConsumerTests {
    @Test(
        "Two instances share the work, and when one is killed, the other handles each message once",
        .timeLimit(.minutes(3)),
        arguments: PythonClient.Program.allCases)
    func share(_ program: PythonClient.Program) async throws {
        try await TestStack.withPython { stack, python in
            let client = python(program)
            try await client.running("consume", "worker", "command.Work", "--result", "event.Handled") { first in
                try await stack.handlesRound(0)
                try await client.running("consume", "worker", "command.Work", "--result", "event.Handled") { _ in
                    var rounds = 1
                    while stack.handlers.count < 2 {
                        try await stack.handlesRound(rounds)
                        rounds += 1
                    }
                    first.kill()
                    try await stack.handlesRound(rounds)
                    #expect(stack.handled.sorted() == Array(0..<(rounds + 1) * TestStack.roundCount))
                }
            }
        }
    }

    @Test("An instance that stops hands over at once, even if its process continues", .timeLimit(.minutes(3)))
    func leave() async throws {
        let script = """
            import asyncio, sys
            from segue_client import connect

            async def main():
                handled = asyncio.Event()
                async def handle(message):
                    handled.set()
                    return []
                async with connect(sys.argv[1], "python/leaver") as bus:
                    consuming = asyncio.create_task(bus.consume("worker", ["command.Work"], handle))
                    await handled.wait()
                    consuming.cancel()
                    await asyncio.gather(consuming, return_exceptions=True)
                    await bus.documents("document")  # Requests are answered in order: it has left now.
                    print("left", flush=True)
                    await asyncio.Event().wait()

            asyncio.run(main())
            """
        try await TestStack.withPython { stack, python in
            try await stack.bus.send(Work(number: 1))
            try await python.running(script: script) { process in
                try await process.waitUntilLine("left")
                let claim = try await stack.bus.engine.claim(consumer: "worker", as: .shared)
                #expect(claim.offsets.count == Partition.count)
            }
        }
    }

    @Test(
        "Messages that the consumer does not receive count as handled", .timeLimit(.minutes(3)),
        arguments: PythonClient.Program.allCases)
    func idle(_ program: PythonClient.Program) async throws {
        try await TestStack.withPython { stack, python in
            let client = python(program)
            try await client.running("consume", "worker", "command.Work", "--result", "event.Handled") { _ in
                try await stack.handlesRound(0)
                try await stack.publish(0..<10)
                let end = try await stack.bus.inspect.newest(matching: [.type(Counted.self)]).offset
                // Progress is not a message: it is only in the journal's tables.
                let journal = try DatabaseQueue(path: "\(stack.dataDirectory)/broker/journal.sqlite")
                let sql = "SELECT max(offset) FROM progress WHERE consumer = 'worker'"
                while try await journal.read({ try Int64.fetchOne($0, sql: sql) ?? 0 }) < end {
                    try await Task.sleep(for: .milliseconds(50))
                }
            }
        }
    }

    @Test(
        "The consumer continues when the broker has forgotten it", .timeLimit(.minutes(3)),
        arguments: PythonClient.Program.allCases)
    func forgotten(_ program: PythonClient.Program) async throws {
        try await TestStack.withPython { stack, python in
            let client = python(program)
            try await client.running("consume", "worker", "command.Work", "--result", "event.Handled") { _ in
                try await stack.handlesRound(0)
                try await stack.stop("broker")
                try await DatabaseQueue(path: "\(stack.dataDirectory)/broker/journal.sqlite").write {
                    try $0.execute(sql: "DELETE FROM producers; UPDATE messages SET producer = NULL")
                }
                try await stack.start("broker")
                try await stack.handlesRound(1)
                #expect(stack.handled.sorted() == Array(0..<2 * TestStack.roundCount))
            }
        }
    }

    @Test(
        "A message that the handler refuses becomes a dead letter, delays nothing and can be sent again",
        .timeLimit(.minutes(3)), arguments: PythonClient.Program.allCases)
    func deadLetter(_ program: PythonClient.Program) async throws {
        try await TestStack.withPython { stack, python in
            let client = python(program)
            try await client.running("consume", "worker", "command.Work", "--result", "event.Handled") { _ in
                try await stack.bus.send(Work(number: 1))
                try await stack.bus.send(Work(number: 2, fail: true))
                try await stack.bus.send(Work(number: 3))
                try await stack.message(Handled.self) { $0.number == 3 }
            }
            #expect(stack.handled == [1, 3])
            let letters = try await stack.bus.inspect.deadLetters(of: "worker")
            let letter = try #require(letters.first)
            #expect(letters.count == 1)
            #expect(
                letter.rejection == Rejection(code: "handler.failed", reason: "the message asks to fail", attempts: 4))
            #expect(try letter.message.decode(Work.self).number == 2)

            let listed = try await python("dead", "--resend")
            #expect(listed.count == 1)
            #expect(listed[0].contains("worker command.Work handler.failed after 4 attempts"))
            try await stack.until("it is sent again") { messages in
                messages.contains { $0.attributes.recipient == "worker" && $0.id != letter.message.id }
            }
            let rest = try await stack.bus.inspect.deadLetters(of: nil)
            #expect(rest.isEmpty)
        }
    }

    @Test(
        "A message that cannot be read becomes a dead letter at once, and delays nothing", .timeLimit(.minutes(3)),
        arguments: PythonClient.Program.allCases)
    func unreadable(_ program: PythonClient.Program) async throws {
        try await TestStack.withPython { stack, python in
            let client = python(program)
            try await Stranger.withConnection(to: "\(stack.busAddress)/ingress") { stranger in
                for (index, header) in BadHeader.allCases.enumerated() {
                    _ = try stranger.publish([header.message(Work.type)], sequence: UInt64(index + 1))
                }
            }
            let good = try await stack.bus.send(Work(number: 1))
            let handled = try await client.running("consume", "worker", "command.Work", "--result", "event.Handled") {
                _ in try await stack.message(Handled.self).envelope
            }
            #expect(handled.attributes.causationID == good.id)
            let codes = try await stack.bus.inspect.deadLetters(of: "worker").map(\.rejection.code)
            #expect(codes == BadHeader.allCases.map { _ in "message.malformed" })
            let listed = try await python("dead", "--resend")
            #expect(listed.count == codes.count)
            let left = try await stack.bus.inspect.deadLetters(of: "worker")
            #expect(left.count == codes.count)
        }
    }

    @Test(
        "A message whose results the broker refuses becomes a dead letter, and delays nothing",
        .timeLimit(.minutes(3)), arguments: PythonClient.Program.allCases)
    func refusedResults(_ program: PythonClient.Program) async throws {
        try await TestStack.withPython { stack, python in
            for number in 1...3 { try await stack.bus.send(Work(number: number)) }
            try await python(program).running("consume", "worker", "command.Work", "--result", "query.Handled") {
                // The message is printed each time it is handled.
                _ = try await $0.messages(3)
                try await stack.waitUntilRefused(3)
            }
        }
    }

    @Test(
        "An expired command is discarded with an event, and one that is sent again has its former lifetime",
        .timeLimit(.minutes(3)), arguments: PythonClient.Program.allCases)
    func expired(_ program: PythonClient.Program) async throws {
        try await TestStack.withPython { stack, python in
            var expired = try Envelope(Work(number: 1), source: stack.bus.source)
            expired.attributes.time -= 3600
            expired.attributes.expire(after: .seconds(1800))
            var failing = try Envelope(Work(number: 2, fail: true), source: stack.bus.source)
            failing.attributes.expire(after: .seconds(1800))
            try await stack.bus.publish(Batch([expired, failing]))
            try await stack.bus.send(Work(number: 3))
            let consuming = ["consume", "worker", "command.Work", "--result", "event.Handled"]
            try await python(program).running(consuming) { _ in
                _ = try await stack.message(Handled.self) { $0.number == 3 }
            }
            #expect(stack.handled == [3])
            let discarded = stack.messages.filter { $0.type.description == "event.MessageDiscarded" }
            #expect(discarded.map(\.attributes.causationID) == [expired.id])

            try await python("dead", "--resend")
            let id = failing.id
            try await stack.until("it is sent again") { $0.contains { $0.attributes.causationID == id } }
            let again = try #require(stack.messages.first { $0.attributes.causationID == id }?.attributes)
            let lifetime = try #require(again.expiryTime?.timeIntervalSince(again.time))
            #expect((1799...1801).contains(lifetime))
            #expect(again.time > failing.attributes.time)
        }
    }

    @Test("A new consumer that begins now skips what the journal has, and nothing later", .timeLimit(.minutes(3)))
    func now() async throws {
        try await TestStack.withPython { stack, python in
            let old = 0..<300
            for number in old { try await stack.bus.send(Work(number: number), subject: "session-\(number)") }
            let consuming = ["consume", "worker", "command.Work", "--result", "event.Handled", "--now"]
            let sent = try await python(.simple).running(consuming) { _ in
                var number = old.upperBound
                while stack.handled.isEmpty {
                    try await stack.bus.send(Work(number: number), subject: "session-\(number)")
                    number += 1
                }
                return number
            }
            let first = try #require(stack.handled.min())
            #expect(first >= old.upperBound)
            // A second run continues where the first one ended, although it is told to begin with "now".
            try await python(.simple).running(consuming) { _ in
                try await stack.until("all is handled") { messages in
                    messages.count { $0.type == Handled.type } >= sent - first
                }
            }
            #expect(stack.handled.sorted() == Array(first..<sent))
        }
    }

    @Test(
        "The consumer claims again in another journal, and handles its messages", .timeLimit(.minutes(3)),
        arguments: PythonClient.Program.allCases, [true, false])
    func newJournal(_ program: PythonClient.Program, isShared: Bool) async throws {
        try await TestStack.withPython { stack, python in
            let consuming = ["consume", "worker", "command.Work", "--result", "event.Handled"]
            try await python(program).running(consuming + (isShared ? [] : ["--exclusive"])) { consumer in
                try await stack.handlesRound(0)
                try await stack.stop("broker")
                for suffix in ["", "-wal", "-shm"] {
                    try? FileManager.default.removeItem(atPath: "\(stack.dataDirectory)/broker/journal.sqlite\(suffix)")
                }
                try await stack.start("broker")
                for number in 64..<128 { try await stack.bus.send(Work(number: number), subject: "session-\(number)") }
                _ = try await consumer.messages(128)
                try await stack.until("all is handled") { $0.count { $0.type == Handled.type } >= 128 }
                #expect(stack.handled.sorted() == Array(0..<2 * TestStack.roundCount))
            }
        }
    }
}

extension TestStack {
    /// Waits until `count` messages are dead letters because their results were refused.
    fileprivate func waitUntilRefused(_ count: Int) async throws {
        while true {
            let codes = try await bus.inspect.deadLetters(of: "worker").map(\.rejection.code)
            if codes.count == count {
                #expect(codes.allSatisfy { $0 == "handler.refused" })
                return
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
