import Contracts
import DeviceTestSupport
import EventBus
import Foundation
import Navigation
import Support
import Testing

@testable import WebInspector

/// A state of a session: its front screen is pushed on `list`, unless it is `list`.
func state(
    _ front: String, _ revision: Int, platform: String = "ios", session: String = "default", rule: String? = nil
) throws -> NavigationSnapshot {
    let path = front == "list" ? [] : [ScreenInstance.sample(front, revision)]
    var snapshot = try NavigationSnapshot.sample(platform, revision: revision, root: "list", path: path)
    snapshot.session = session
    snapshot.rule = rule
    return snapshot
}

private func document(
    _ snapshot: NavigationSnapshot, at offset: UInt64, epoch: UInt64 = 1, story: String = "tap"
) throws -> Envelope {
    var message = try Envelope(
        Document.NavigationState(snapshot), source: "coordinator/1", subject: snapshot.session)
    message.attributes.correlationID = story
    message.position = Position(epoch: epoch, offset: offset)
    return message
}

private func tombstone(at offset: UInt64, platform: String = "ios") -> Envelope {
    var attributes = Attributes(type: Document.NavigationState.type, source: "coordinator/1")
    attributes.key = platform
    return Envelope(attributes: attributes, data: Data(), position: Position(epoch: 1, offset: offset))
}

private func flow(of platform: String = "ios") throws -> NavigationHistory.FlowName {
    NavigationHistory.FlowName(platform: platform, hash: try state("list", 0, platform: platform).flow.hash)
}

@Suite("Uses of rules")
struct NavigationHistoryTests {
    private typealias Shown = NavigationHistory.Shown

    @Test("Each use of a rule counts, also the same rule twice, but not the end of an animation")
    func counts() throws {
        var history = NavigationHistory()
        _ = history.handle(try document(try state("list", 1), at: 1))
        let first = history.handle(try document(try state("detail", 2, rule: "transitions[0]"), at: 2))
        #expect(first?.rule == "transitions[0]")
        #expect(first?.move?.from == "list" && first?.move?.to == "detail")
        _ = history.handle(try document(try state("detail", 3, rule: "transitions[0]"), at: 3))
        // The screens are the same, so only the animation has ended.
        var animated = try state("detail", 3, rule: "transitions[0]")
        animated.revision = 4
        let end = history.handle(try document(animated, at: 4))
        #expect(end?.rule == nil && end?.move == nil)
        #expect(history.counts(of: try flow(), in: nil) == ["transitions[0]": 2])
        let uses = history.uses(of: "transitions[0]", of: try flow(), in: nil)
        #expect(uses.map(\.position.offset) == [3, 2] && uses.last?.words == "list → detail")
    }

    @Test("A rule with a guard counts when its answer has changed the screens, not when it begins to wait")
    func guarded() throws {
        var history = NavigationHistory()
        history.handle(try document(try state("list", 1), at: 1))
        var waiting = try state("list", 2, rule: "transitions[0]")
        let attempt = """
            {"id": "tap", "rule": "0", "instance": "list-1", "deadline": 5000, "queue": [],
            "message": {"id": "tap", "type": "command.Chosen", "subject": "default", "data": {}, "attributes": {}}}
            """
        waiting.state.attempts = [try JSONDecoder().decode(PendingGuard.self, from: Data(attempt.utf8))]
        let asked = history.handle(try document(waiting, at: 2))
        #expect(asked?.rule == nil && asked?.move == nil)
        let answered = history.handle(try document(try state("detail", 3, rule: "transitions[0]"), at: 3))
        #expect(answered?.rule == "transitions[0]")
        #expect(history.count(of: "transitions[0]", of: try flow(), in: nil) == 1)
    }

    @Test("A message that is delivered again changes nothing, also after the end of its session")
    func repeated() throws {
        var history = NavigationHistory()
        let messages = [
            try document(try state("list", 1), at: 1),
            try document(try state("detail", 2, rule: "transitions[0]"), at: 2), tombstone(at: 3),
        ]
        for message in messages { _ = history.handle(message) }
        #expect(history.screens(on: "ios", in: nil).isEmpty)
        for message in messages { #expect(history.handle(message) == nil) }
        #expect(history.screens(on: "ios", in: nil).isEmpty)
        #expect(history.count(of: "transitions[0]", of: try flow(), in: nil) == 1)
    }

    @Test("Sessions and platforms are counted together and on their own")
    func sessions() throws {
        var history = NavigationHistory()
        for (index, session) in ["a", "b"].enumerated() {
            let offset = UInt64(10 * index)
            _ = history.handle(try document(try state("list", 1, session: session), at: offset + 1))
            _ = history.handle(
                try document(try state("detail", 2, session: session, rule: "links[0]"), at: offset + 2))
        }
        _ = history.handle(try document(try state("list", 3, session: "b", rule: "transitions[1]"), at: 20))
        _ = history.handle(try document(try state("list", 1, platform: "mac", session: "b"), at: 21))
        #expect(
            history.screens(on: "ios", in: nil)
                == ["list": Shown(shown: 1, front: 1), "detail": Shown(shown: 1, front: 1)])
        #expect(history.screens(on: "mac", in: nil) == ["list": Shown(shown: 1, front: 1)])
        #expect(history.screens(on: "ios", in: "a") == ["detail": Shown(shown: 1, front: 1)])
        #expect(history.screens(on: "mac", in: "a") == [:])
        #expect(history.counts(of: try flow(), in: nil) == ["links[0]": 2, "transitions[1]": 1])
        #expect(history.counts(of: try flow(), in: "a") == ["links[0]": 1])
        #expect(history.uses(of: "links[0]", of: try flow(), in: "b").map(\.session) == ["b"])
        #expect(history.counts(of: try flow(of: "mac"), in: nil).isEmpty)
    }

    @Test("The first document of a session is the state before the next change, and counts nothing")
    func learnt() throws {
        var history = NavigationHistory()
        history.handle(try document(try state("list", 1, rule: "transitions[0]"), at: 1))
        #expect(history.counts(of: try flow(), in: nil).isEmpty)
        let change = history.handle(try document(try state("detail", 2, rule: "transitions[1]"), at: 2))
        #expect(change?.move?.from == "list")
    }

    @Test("A document that cannot be read, or that another platform or session claims, changes nothing")
    func hostile() throws {
        var history = NavigationHistory()
        history.handle(try document(try state("list", 1), at: 1))
        var other = try document(try state("detail", 2, rule: "transitions[0]"), at: 2)
        other.attributes.key = "mac"
        var foreign = try document(try state("detail", 2, rule: "transitions[0]"), at: 2)
        foreign.attributes.subject = "other"
        let attributes = other.attributes
        var garbage = attributes
        garbage.key = "ios"
        let large = Data(repeating: UInt8(ascii: " "), count: (1 << 20) + 1)
        for message in [
            other, foreign,
            Envelope(attributes: garbage, data: Data("{".utf8), position: Position(epoch: 1, offset: 3)),
            Envelope(attributes: garbage, data: large, position: Position(epoch: 1, offset: 4)),
        ] {
            #expect(history.handle(message) == nil)
        }
        #expect(history.screens(on: "ios", in: nil) == ["list": Shown(shown: 1, front: 1)])
        #expect(history.handle(try document(try state("detail", 2, rule: "transitions[0]"), at: 5)) != nil)
    }

    @Test("The numbers of sessions, rules and uses, and the lengths of names and words, are limited")
    func limits() throws {
        var history = NavigationHistory()
        let long = String(repeating: "a", count: 1000)
        _ = history.handle(try document(try state(long, 1, rule: long), at: 1))
        #expect(history.screens(on: "ios", in: nil).isEmpty, "the front screen's name is too long")
        #expect(history.counts(of: try flow(), in: nil).isEmpty)
        for number in 2..<60 {
            let pushed = try state(long + "\(number)", number, rule: "transitions[0]")
            _ = history.handle(try document(pushed, at: UInt64(number)))
        }
        let uses = history.uses(of: "transitions[0]", of: try flow(), in: nil)
        #expect(uses.count == NavigationHistory.useLimit && uses.first?.position.offset == 59)
        #expect(uses.allSatisfy { $0.words.unicodeScalars.count <= 2 * NavigationHistory.nameLength + 3 })
        #expect(history.count(of: "transitions[0]", of: try flow(), in: nil) == 58)
    }

    @Test("Older uses are added to newer ones")
    func older() throws {
        var older = NavigationHistory()
        _ = older.handle(try document(try state("list", 1), at: 1))
        _ = older.handle(try document(try state("detail", 2, rule: "transitions[0]"), at: 2))
        var newer = NavigationHistory()
        newer.handle(try document(try state("detail", 2, rule: "transitions[0]"), at: 2))
        _ = newer.handle(try document(try state("detail", 3, rule: "transitions[0]"), at: 3))
        _ = newer.handle(try document(try state("list", 4, rule: "transitions[1]"), at: 4))
        newer.prepend(older)
        #expect(newer.counts(of: try flow(), in: "default") == ["transitions[0]": 2, "transitions[1]": 1])
        let uses = newer.uses(of: "transitions[0]", of: try flow(), in: nil)
        #expect(uses.map(\.position.offset) == [3, 2])
        #expect(newer.screens(on: "ios", in: nil) == ["list": Shown(shown: 1, front: 1)])
    }
}

extension MapView {
    /// The next update, as the page reads it.
    fileprivate mutating func update(size: Int = .max) throws -> JSONValue? {
        try dequeueUpdate(size: size).map { try JSONValue(parsing: Data($0)) }
    }
}

@Suite("Views of the map")
struct MapViewTests {
    private func move(_ number: Int) -> MapMove {
        MapMove(
            platform: "ios", session: "default", from: "list", to: "detail", rule: nil, story: "s",
            message: "m\(number)", time: Date(timeIntervalSince1970: 0))
    }

    @Test("Changes are merged until the page reads them, and an equal value is not a change")
    func merged() throws {
        var view = MapView(session: nil)
        #expect(try view.update() == nil)
        view.setFlows([
            MapFlow(platform: "mac", name: "b", version: 2, hash: "2"),
            MapFlow(platform: "ios", name: "a", version: 1, hash: "1"),
        ])
        view.setScreens(["list": .init(shown: 1, front: 1)], on: "ios")
        view.setScreens(["list": .init(shown: 2, front: 1)], on: "ios")
        view.setCounts(["links[0]": 1, "links[1]": 5], on: "ios")
        view.setCounts(["links[0]": 2], on: "ios")
        view.setCounted(CountedSpan(since: nil))
        let update = try view.update()
        #expect(update?["flows"]?.arrayValue?.map { $0["platform"] } == ["ios", "mac"])
        #expect(update?["here"] == ["ios": ["list": ["shown": 2, "front": 1]]])
        #expect(update?["taken"] == ["ios": ["links[0]": 2, "links[1]": 5]])
        #expect(update?["counted"] == ["since": .null])
        #expect(update?["reset"] == true, "only the first update is one")
        view.setScreens(["list": .init(shown: 2, front: 1)], on: "ios")
        #expect(!view.hasNews)
        view.setScreens([:], on: "ios")
        #expect(try view.update() == ["here": ["ios": [:]]])
    }

    @Test("At most 64 moves wait; the oldest are dropped")
    func moves() throws {
        var view = MapView(session: nil)
        for number in 0..<70 { view.add(move(number)) }
        let moves = try #require(try view.update()?["moves"]?.arrayValue)
        #expect(moves.count == MapView.moveLimit && moves.first?["message"] == "m6")
        #expect(moves.last?["message"] == "m69" && moves.last?["kind"] == .null)
    }

    @Test("Counts that do not fit follow in the next update, and the page learns at last that all rules are counted")
    func size() throws {
        var view = MapView(session: nil)
        view.setCounts(["a": 1, "b": 2], on: "ios")
        view.setCounts(["c": 3], on: "mac")
        view.setCounted(CountedSpan(since: Date(timeIntervalSince1970: 0)))
        var rules: [String] = []
        while let update = try view.update(size: 1) {
            let counts = update["taken"]?.objectValue?.values.flatMap { $0.objectValue ?? [:] } ?? []
            #expect(counts.count == 1)
            rules += counts.map(\.key)
            #expect((update["counted"] != nil) == (rules.count == 3))
        }
        #expect(rules.sorted() == ["a", "b", "c"])
    }

    @Test("With another journal, the screens and counts are withdrawn")
    func forgotten() throws {
        var view = MapView(session: nil)
        view.setScreens(["list": .init(shown: 1, front: 1)], on: "ios")
        _ = try view.update()
        view.add(move(1))
        view.setCounts(["a": 1], on: "ios")
        view.forget()
        #expect(try view.update() == ["here": ["ios": [:]], "counted": .null])
    }
}
