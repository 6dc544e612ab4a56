import EventBus
import Foundation
import SegueTestSupport
import TestSupport
import Testing

@Suite("Python clients during kills of the broker and of themselves", .needsPython)
struct PythonKillTests {
    @Test(
        "A consumer has each result once, and those of a subject in order", .timeLimit(.minutes(3)),
        arguments: PythonClient.Program.allCases, [true, false])
    func consume(_ program: PythonClient.Program, isShared: Bool) async throws {
        try await TestStack.withPython { stack, python in
            let client = python(program)
            let consuming = ["consume", "worker", "command.Work", "--result", "event.Handled"]
            let mode = isShared ? [] : ["--exclusive"]
            let (backlog, live) = (600, 60)
            for number in 0..<backlog { try await stack.sendWork(number) }
            for _ in 0..<2 {
                try await client.running(consuming + mode) { consumer in
                    try await consumer.messages(60)
                    try await stack.killAndRestart("broker")
                    try await consumer.messages(60)
                    consumer.kill()
                }
            }
            try await client.running(consuming + mode) { _ in
                for number in backlog..<backlog + live { try await stack.sendWork(number) }
                try await stack.until("all is handled") { $0.count { $0.type == Handled.type } >= backlog + live }
            }
            #expect(stack.handled.sorted() == Array(0..<backlog + live))
            let results = try stack.messages.filter { $0.type == Handled.type }
                .map { ($0.subject, try $0.decode(Handled.self).number) }
            for (subject, results) in Dictionary(grouping: results, by: \.0) {
                #expect(results.map(\.1) == results.map(\.1).sorted(), "\(subject)")
            }
        }
    }

    @Test(
        "New messages are read and handled after an older journal was put back", .timeLimit(.minutes(3)),
        arguments: PythonClient.Program.allCases)
    func olderJournal(_ program: PythonClient.Program) async throws {
        try await TestStack.withPython { stack, python in
            let client = python(program)
            let reading = ["tail", "command.Work"] + (program == .fast ? ["--beginning"] : [])
            let consuming = ["consume", "worker", "command.Work", "--result", "event.Handled"]
            try await client.running(consuming) { consumer in
                try await client.running(reading) { reader in
                    for number in 0..<50 { try await stack.sendWork(number) }
                    try await reader.messages(50)
                    try await consumer.messages(50)
                    try await stack.journalLosesItsEnd(isKnown: false) {
                        for number in 50..<100 { try await stack.sendWork(number) }
                        try await reader.messages(50)
                        try await consumer.messages(50)
                    }
                    for number in 100..<200 { try await stack.sendWork(number) }
                    try await reader.reads(Set(100..<200))
                    try await consumer.reads(Set(100..<200))
                }
            }
        }
    }

    @Test("A simple publisher's messages are recorded once and in order", .timeLimit(.minutes(3)))
    func publish() async throws {
        let script = """
            import itertools, sys
            from segue_simple import Bus
            from segue_wire import Message

            bus = Bus(sys.argv[1], "python/publisher")
            for number in itertools.count():
                bus.publish(Message("event.Counted", {"number": number}))
                print(number, flush=True)
            """
        try await TestStack.withPython { stack, python in
            let acknowledged = try await python.running(script: script) { publisher in
                try await publisher.waitUntilLine("50")
                try await stack.killAndRestart("broker")
                try await publisher.waitUntilLine("100")
                try await stack.killAndRestart("broker")
                try await publisher.waitUntilLine("200")
                publisher.kill()
                return 200
            }
            try await stack.bus.publish(Counted(number: -1))
            try await stack.message(Counted.self) { $0.number == -1 }
            let numbers = try stack.messages.filter { $0.type == Counted.type }
                .map { try $0.decode(Counted.self).number }.filter { $0 >= 0 }
            #expect(numbers == Array(0..<numbers.count))
            #expect(numbers.count > acknowledged)
        }
    }

    @Test(
        "A simple subscriber that continues where it was has no loss and no duplicate", .timeLimit(.minutes(3)))
    func tail() async throws {
        try await TestStack.withPython { stack, python in
            var received: [PrintedMessage] = []
            for round in 0..<3 {
                let after = "\(received.last?.offset ?? 0)"
                received += try await python(.simple).running("tail", "event.Counted", "--after", after) { tail in
                    try await stack.publish(round * 100..<round * 100 + 50)
                    let first = try await tail.messages(30)
                    try await stack.killAndRestart("broker")
                    try await stack.publish(round * 100 + 50..<(round + 1) * 100)
                    let second = try await tail.messages(60)
                    tail.kill()
                    return first + second
                }
            }
            let after = "\(received.last?.offset ?? 0)"
            received += try await python(.simple).running("tail", "event.Counted", "--after", after) {
                try await $0.messages(300 - received.count)
            }
            #expect(received.map(\.data?.number) == Array(0..<300))
        }
    }
}

extension TestStack {
    /// Work for one of 16 sessions.
    fileprivate func sendWork(_ number: Int) async throws {
        try await bus.send(Work(number: number), subject: "session-\(number % 16)")
    }
}

extension RunningProgram {
    /// Waits until all of these numbers have been printed.
    fileprivate mutating func reads(_ numbers: Set<Int>) async throws {
        var missing = numbers
        while !missing.isEmpty {
            for message in try await messages(1) {
                if let number = message.data?.number { missing.remove(number) }
            }
        }
    }
}
