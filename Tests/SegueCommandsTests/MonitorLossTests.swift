import CommandLineTestSupport
import EventBus
import Foundation
import Testing

@Suite("segue monitor that stood still")
struct MonitorLossTests {
    /// Half of them are more than the queues between two processes hold.
    private static let count = 40_000

    @Test("shows all that the feed dropped meanwhile, and tells so", .timeLimit(.minutes(2)))
    func recovered() async throws {
        try await SegueCommandLine.onBus { segue in
            let begun = try await segue.shell(
                """
                segue monitor --type event.Many --field data.n > shown 2> told < /dev/null & echo $! > monitor
                until [ -s shown ]; do segue send event.Many '{"n": "first"}' > sent; done
                kill -STOP $(cat monitor)
                """)
            try #require(begun.status == 0, "\(begun.error)")
            try await segue.withConnection { bus in
                try await publish(0..<Self.count / 2, on: bus)
                _ = try await segue.shell("kill -CONT $(cat monitor)")
                // By the first of these that arrives it learns what did not.
                try await publish(Self.count / 2..<Self.count, on: bus)
            }
            let ended = try await segue.shell(
                """
                grep -E -m \(Self.count) '^[0-9]+$' <(exec tail -n +1 -f shown)
                grep -q -m1 lost <(exec tail -n +1 -f told)
                kill $(cat monitor)
                """)
            #expect(ended.lines.compactMap { Int($0) }.sorted() == Array(0..<Self.count))
            let told = try String(contentsOfFile: segue.directory + "/told", encoding: .utf8)
            let lines = told.matches(of: #/segue: (\d+) event.Many got lost on the way, and came from the journal\n/#)
            let lost = lines.compactMap { Int($0.1) }.reduce(0, +)
            #expect((1..<Self.count).contains(lost), "\(told)")
        }
    }

    /// Each on another topic than the one before, so that the feed cannot carry them together.
    private func publish(_ numbers: Range<Int>, on bus: any EventBus) async throws {
        let type = MessageType(kind: .event, name: "Many")
        for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 500) {
            let messages = (start..<start + 500).map { number in
                Envelope(
                    attributes: Attributes(type: type, source: "test/1", subject: "session-\(number % 3)"),
                    data: Data("{\"n\":\(number)}".utf8))
            }
            try await bus.publish(Batch(messages))
        }
    }
}
