import BusStranger
import EventBus
import GRDB
import SegueTestSupport
import Testing

@Suite(
    "A durable consumer in Python",
    .enabled(if: PythonClient.isInstalled, "scripts/python, which make test runs, installs what it needs"))
struct PythonConsumerTests {
    @Test(
        "two instances share the work, and when one is killed the other does it all, each once", .timeLimit(.minutes(3))
    )
    func share() async throws {
        try await TestStack.withPython { stack, python in
            try await python.running("consume", "worker", "command.Work", "--result", "event.Handled") { first in
                try await stack.handlesRound(0)
                try await python.running("consume", "worker", "command.Work", "--result", "event.Handled") { _ in
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

    @Test("one that stops hands over at once, though its process goes on", .timeLimit(.minutes(3)))
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
                try await process.says("left")
                let claim = try await stack.bus.claim(consumer: "worker", as: .shared)
                #expect(claim.offsets.count == Partition.count)
            }
        }
    }

    @Test("what it has nothing to do with counts as handled", .timeLimit(.minutes(3)))
    func idle() async throws {
        try await TestStack.withPython { stack, python in
            try await python.running("consume", "worker", "command.Work", "--result", "event.Handled") { _ in
                try await stack.handlesRound(0)
                try await stack.publish(0..<10)
                let end = try await stack.bus.newest(matching: [.type(Counted.self)]).offset
                // Progress is no message: only the journal tells.
                let journal = try DatabaseQueue(path: "\(stack.dataDirectory)/broker/journal.sqlite")
                let sql = "SELECT max(offset) FROM progress WHERE consumer = 'worker'"
                while try await journal.read({ try Int64.fetchOne($0, sql: sql) ?? 0 }) < end {
                    try await Task.sleep(for: .milliseconds(50))
                }
            }
        }
    }

    @Test("it goes on when the broker has forgotten it", .timeLimit(.minutes(3)))
    func forgotten() async throws {
        try await TestStack.withPython { stack, python in
            try await python.running("consume", "worker", "command.Work", "--result", "event.Handled") { _ in
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
        "what it cannot handle becomes a dead letter, which holds nothing up and can be sent again",
        .timeLimit(.minutes(3)))
    func deadLetter() async throws {
        try await TestStack.withPython { stack, python in
            try await python.running("consume", "worker", "command.Work", "--result", "event.Handled") { _ in
                try await stack.bus.send(Work(number: 1))
                try await stack.bus.send(Work(number: 2, fail: true))
                try await stack.bus.send(Work(number: 3))
                try await stack.message(Handled.self) { $0.number == 3 }
            }
            #expect(stack.handled == [1, 3])
            let letters = try await stack.bus.deadLetters(of: "worker")
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
            let rest = try await stack.bus.deadLetters(of: nil)
            #expect(rest.isEmpty)
        }
    }

    @Test("what nobody can read becomes a dead letter at once, and holds nothing up", .timeLimit(.minutes(3)))
    func unreadable() async throws {
        try await TestStack.withPython { stack, python in
            try await Stranger.meets("\(stack.busAddress)/ingress") { stranger in
                for (index, header) in BadHeader.allCases.enumerated() {
                    _ = try stranger.publish([header.message(Work.type)], sequence: UInt64(index + 1))
                }
            }
            let good = try await stack.bus.send(Work(number: 1))
            let handled = try await python.running("consume", "worker", "command.Work", "--result", "event.Handled") {
                _ in try await stack.message(Handled.self).envelope
            }
            #expect(handled.attributes.causationID == good.id)
            let codes = try await stack.bus.deadLetters(of: "worker").map(\.rejection.code)
            #expect(codes == BadHeader.allCases.map { _ in "message.malformed" })
            let listed = try await python("dead", "--resend")
            #expect(listed.count == codes.count)
            let left = try await stack.bus.deadLetters(of: "worker")
            #expect(left.count == codes.count)
        }
    }
}
