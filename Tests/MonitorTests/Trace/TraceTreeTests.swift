import EventBus
import Foundation
import Monitor
import Support
import Testing

@Suite("Trace trees")
struct TraceTreeTests {
    private func message(_ id: String, _ cause: String?, after milliseconds: Int = 0) throws -> TracedMessage {
        TracedMessage(
            try .recorded(
                id, "event.A", at: 1 + UInt64(milliseconds), causedBy: cause, after: Double(milliseconds) / 1000))
    }

    private func shape(_ tree: TraceTree) -> [String] {
        tree.nodes.map { String(repeating: " ", count: $0.depth) + $0.message.id + ($0.isCritical ? "*" : "") }
    }

    private static let story: [(String, String?, Int)] = [
        ("tap", nil, 0), ("state", "tap", 2), ("load", "tap", 3), ("loading", "load", 5), ("songs", "load", 40),
        ("shown", "state", 9), ("ready", "songs", 42),
    ]

    @Test("Each message is below its cause, in any order of arrival, and the chain to the last is marked")
    func tree() throws {
        for seed in 0..<7 {
            let rotated = Self.story[seed...] + Self.story[..<seed]
            let tree = TraceTree(try rotated.map { try message($0.0, $0.1, after: $0.2) })
            #expect(
                shape(tree) == ["tap*", " state", "  shown", " load*", "  loading", "  songs*", "   ready*"])
            #expect(tree.nodes.map(\.sinceCause) == [nil, 2, 7, 3, 2, 37, 2].map { $0.map { .milliseconds($0) } })
            #expect(tree.duration == .milliseconds(42) && tree.criticalPath.count == 4)
        }
    }

    @Test("A trace has the id of its messages, once, and ignores unreadable ones")
    func traces() throws {
        var story = Story(id: "a")
        let (own, stranger) = (TraceContext(story: "a"), TraceContext(story: "b"))
        for (offset, trace) in [own.text, own.next.text, "00-1-2-01", stranger.text, own.next.text].enumerated() {
            story.add(try .recorded("m\(offset)", "event.A", at: 1, in: "a") { $0.traceparent = trace })
        }
        #expect(story.traces == [own.traceID, stranger.traceID])
        #expect(story.messages[2].trace == nil)
    }

    @Test("Among messages of one millisecond, the deepest and last one ends the chain")
    func simultaneous() throws {
        let messages = try ["a", "b", "c"].enumerated().map { offset, id in
            TracedMessage(try .recorded(id, "event.A", at: UInt64(offset + 1), causedBy: id == "a" ? nil : "a"))
        }
        #expect(shape(TraceTree(messages.reversed())) == ["a*", " b", " c*"])
        let deeper = TracedMessage(try .recorded("d", "event.A", at: 4, causedBy: "b"))
        #expect(shape(TraceTree(messages + [deeper])) == ["a*", " b*", "  d*", " c"])
    }

    @Test("A missing cause is reported, and messages that cause each other are accepted")
    func strangers() throws {
        let tree = TraceTree([
            try message("orphan", "gone", after: 1), try message("child", "orphan", after: 2),
            try message("self", "self", after: 3), try message("a", "c", after: 4), try message("b", "a", after: 5),
            try message("c", "b", after: 6), try message("twice", nil, after: 7), try message("twice", nil, after: 8),
        ])
        #expect(shape(tree) == ["orphan", " child", "self", "twice", "twice*", "a", " b", "  c"])
        #expect(tree.nodes.map(\.origin) == [.unknown, .cause, .cycle, .none, .none, .cycle, .cause, .cause])
    }

    @Test("A chain of thousands, and a message with thousands of effects, are drawn")
    func large() throws {
        let chain = TraceTree(try (0..<5000).map { try message("m\($0)", $0 == 0 ? nil : "m\($0 - 1)", after: $0) })
        #expect(chain.nodes.last?.depth == 4999 && chain.criticalPath.count == 5000)
        let fan = TraceTree(try (0..<5000).map { try message("m\($0)", $0 == 0 ? nil : "m0", after: $0) })
        #expect(fan.nodes.map(\.depth).max() == 1 && fan.criticalPath.map(\.message.id) == ["m0", "m4999"])
        #expect(TraceTree([]).duration == .zero)
    }

    @Test("A tree is drawn with branches, times and the chain")
    func format() throws {
        let tree = TraceTree(try Self.story.map { try message($0.0, $0.1, after: $0.2) })
        let format = TraceFormat(zone: .utc)
        let lines = format.lines(tree).map { $0.rendered(isColored: false, columns: nil).description }
        #expect(
            lines == [
                "* event.A  device/1  12:34:56.789", "  ├─ event.A  device/1  +2 ms",
                "  │  └─ event.A  device/1  +7 ms", "* └─ event.A  device/1  +3 ms",
                "     ├─ event.A  device/1  +2 ms", "*    └─ event.A  device/1  +37 ms",
                "*       └─ event.A  device/1  +2 ms",
            ])
        let story = Story(id: "tap")
        #expect(format.summary(story, tree) == "7 messages from 1 process in 42 ms; 3 steps (*) to the last message")
        let orphan = TraceTree([try message("orphan", "gone")])
        #expect(
            format.lines(orphan)[0].rendered(isColored: false, columns: nil).description.hasSuffix(
                "its cause was not found"))
        #expect(story.tree.nodes.isEmpty)
    }
}
