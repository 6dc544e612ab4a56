import CommandLineTestSupport
import EventBus
import Foundation
import SegueTestSupport
import Support
import TestSupport
import Testing

@Suite("Python client", .needsPython)
struct PythonClientTests {
    @Test("Messages that Python publishes are read by Swift once and in order", .timeLimit(.minutes(3)))
    func publish() async throws {
        try await TestStack.withPython { stack, python in
            let lines = (0..<300).map { #"{"number":\#($0)}"# }
            try await python("publish", "event.Counted", input: lines.joined(separator: "\n"))
            let received = try await stack.counted(300)
            #expect(received == Array(0..<300))
        }
    }

    @Test(
        "Messages that Swift publishes are read by Python once and in order, live and later, small and large",
        .timeLimit(.minutes(3))
    )
    func tail() async throws {
        try await TestStack.withPython { stack, python in
            try await python.running("tail", "event.Counted") { tail in
                try await tail.waitUntilLine("live")
                for number in 0..<50 {
                    let padding = number % 10 == 0 ? String(repeating: "x", count: 20_000) : nil
                    try await stack.bus.publish(Counted(number: number, padding: padding))
                }
                let live = try await tail.messages(50)
                #expect(live.map(\.data?.number) == Array(0..<50))
            }
            let later = try await python("tail", "event.Counted", "--beginning", "--count", "50")
            #expect(try later.map { try PrintedMessage($0).data?.number } == Array(0..<50))
        }
    }

    @Test(
        "A Python subscriber has no loss and no duplicate when a broker is killed", .timeLimit(.minutes(3))
    )
    func catchUp() async throws {
        try await TestStack.withPython { stack, python in
            try await python.running("tail", "event.Counted") { tail in
                try await tail.waitUntilLine("live")
                for round in 0..<3 {
                    try await stack.publish(round * 100..<(round + 1) * 100)
                    try await stack.killAndRestart("broker")
                }
                try await stack.publish(300..<400)
                let received = try await tail.messages(400)
                #expect(received.map(\.data?.number) == Array(0..<400))
            }
        }
    }

    @Test(
        "Messages that Python publishes while the broker is killed are recorded once and in order",
        .timeLimit(.minutes(3)))
    func resend() async throws {
        try await TestStack.withPython { stack, python in
            let lines = (0..<2000).map { #"{"number":\#($0)}"# }.joined(separator: "\n")
            async let published = python("publish", "event.Counted", input: lines)
            try await stack.message(Counted.self)
            try await stack.killAndRestart("broker")
            _ = try await published
            let received = try await stack.counted(2000)
            #expect(received == Array(0..<2000))
        }
    }

    @Test("Transient messages are received in both directions, and not recorded", .timeLimit(.minutes(3)))
    func transient() async throws {
        try await TestStack.withPython { stack, python in
            try await python.running("tail", "event.Counted") { tail in
                try await tail.waitUntilLine("live")
                let message = try Envelope(Counted(number: 1), source: stack.bus.source)
                try await stack.bus.publishTransient([message])
                let heard = try await tail.messages(1)
                #expect(heard.map(\.offset) == [0])
            }
            try await stack.bus.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                try await python("publish", "event.Counted", "--transient", "--data", #"{"number":2}"#)
                var iterator = messages.makeAsyncIterator()
                let heard = try #require(try await iterator.next())
                #expect(heard.position == nil)
                #expect(try heard.decode(Counted.self).number == 2)
            }
            let newest = try await stack.bus.inspect.newest(matching: [.type(Counted.self)])
            #expect(newest.offset == 0)
        }
    }

    @Test("A Python client with a key publishes and reads on a bus with keys", .timeLimit(.minutes(3)), .needsPython)
    func keys() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write("name: keyed\nx-keys: keys\nservices: { broker: { command: broker } }")
            let result = try await segue.shell(
                """
                set -e
                bus() { PYTHONDONTWRITEBYTECODE=1 '\(PythonClient.python)' '\(PythonClient.folder)/bus.py' "$@"; }
                segue keys init; segue keys add python; segue up -d --wait
                export SEGUE_BUS="ipc://$XDG_RUNTIME_DIR/segue/keyed/bus" SEGUE_BUS_CURVE=keys/python.key
                bus publish event.Counted --data '{"number":7}'
                bus tail event.Counted --beginning --count 1
                """)
            #expect(result.status == 0, "\(result.error)")
            #expect(result.lines.last?.contains("7") == true)
        }
    }

    @Test("Retained documents are read in both directions", .timeLimit(.minutes(3)))
    func documents() async throws {
        try await TestStack.withPython { stack, python in
            for level in [Level(number: 1, key: "a"), Level(number: 2, key: "a"), Level(number: 3, key: "b")] {
                try await stack.bus.publish(level)
            }
            let documents = try await python("documents", "document.Level")
            #expect(try documents.map { try PrintedMessage($0).data?.number } == [2, 3])
            try await python("publish", "document.Level", "--data", #"{"number":4}"#)
            let level = try await stack.bus.document(Level.self)
            #expect(level?.number == 4)
            let retained = try await python("tail", "document.Level", "--retained", "--count", "3")
            #expect(try retained.map { try PrintedMessage($0).data?.number } == [2, 3, 4])
        }
    }

    @Test("Python answers queries of Swift", .timeLimit(.minutes(3)))
    func serve() async throws {
        try await TestStack.withPython { stack, python in
            try await python.running("serve", "query.Question") { server in
                try await server.waitUntilLine("serving")
                let answer = try await stack.bus.ask(Question(number: 7), timeout: .seconds(60)) {
                    BusError(.refused, "\($0.type)")
                }
                #expect(answer.echo == Number(number: 7))
            }
        }
    }

    @Test("Swift answers queries of Python, and an unserved query fails", .timeLimit(.minutes(3)))
    func ask() async throws {
        try await TestStack.withPython { stack, python in
            let failure = await #expect(throws: TestProgram.Failure.self) {
                try await python("ask", "query.Question", "--data", #"{"number":7}"#)
            }
            #expect(failure?.description.contains("query.Question") == true)
            let serving = Latch()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await stack.bus.serve([Question.type], whenServing: serving.open) { query in
                        let number = try query.decode(Question.self).number
                        return Envelope(attributes: query.attributes, data: Data(#"{"number":\#(number)}"#.utf8))
                    }
                }
                group.addTask {
                    try await serving.waitUntilOpen()
                    let output = try await python("ask", "query.Question", "--data", #"{"number":7}"#)
                    #expect(try output.map { try PrintedMessage($0).data } == [Number(number: 7)])
                }
                try await group.next()
                group.cancelAll()
            }
        }
    }
}
