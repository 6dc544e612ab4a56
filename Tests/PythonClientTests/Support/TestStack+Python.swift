import EventBus
import Foundation
import SegueTestSupport
import TestSupport

extension TestStack {
    /// Runs `body` with a broker process and the Python client.
    static func withPython(
        _ body: @escaping @Sendable (_ stack: TestStack, _ python: PythonClient) async throws -> Void
    ) async throws {
        try await with([.broker]) { stack in
            try await body(stack, PythonClient(bus: stack.busAddress))
        }
    }

    func publish(_ numbers: Range<Int>) async throws {
        for number in numbers {
            try await bus.publish(Counted(number: number))
        }
    }

    /// The first `count` messages of the type ``Counted`` in the journal.
    func counted(_ count: Int) async throws -> [Int] {
        try await bus.withSubscription(to: [.type(Counted.self)], from: .beginning) { messages in
            var numbers: [Int] = []
            for try await message in messages {
                numbers.append(try message.decode(Counted.self).number)
                if numbers.count == count { break }
            }
            return numbers
        }
    }

    static let roundCount = 64

    /// Sends work for many sessions, and waits until all of it is handled.
    func handlesRound(_ round: Int) async throws {
        for number in 0..<Self.roundCount {
            try await bus.send(Work(number: round * Self.roundCount + number), subject: "session-\(number)")
        }
        let count = (round + 1) * Self.roundCount
        try await until("\(count) are handled") { $0.count { $0.type == Handled.type } >= count }
    }

    /// The results so far, in order.
    var handled: [Int] {
        messages.filter { $0.type == Handled.type }.compactMap { try? $0.decode(Handled.self).number }
    }

    /// The processes that have handled something.
    var handlers: Set<String> {
        Set(messages.filter { $0.type == Handled.type }.map(\.attributes.source))
    }

    /// Runs `body`, then replaces the journal by its earlier content: messages that were published in `body` are lost.
    /// - Parameter isKnown: True if the record of the journal's end remains, so that the broker begins a new epoch at
    ///   its start. False if the record is the earlier one, too: then only a client may know of the loss.
    func journalLosesItsEnd(isKnown: Bool = true, _ body: () async throws -> Void) async throws {
        let journals = "\(dataDirectory)/broker"
        let copy = "\(dataDirectory)/copy"
        try await stop("broker")
        try FileManager.default.copyItem(atPath: journals, toPath: copy)
        try await start("broker")
        try await body()
        try await stop("broker")
        let record = "journal.sqlite.end"
        if isKnown {
            try FileManager.default.removeItem(atPath: "\(copy)/\(record)")
            try FileManager.default.copyItem(atPath: "\(journals)/\(record)", toPath: "\(copy)/\(record)")
        }
        try FileManager.default.removeItem(atPath: journals)
        try FileManager.default.copyItem(atPath: copy, toPath: journals)
        try await start("broker")
    }
}
