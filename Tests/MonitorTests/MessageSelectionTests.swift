import EventBus
import Monitor
import Testing

@Suite("What is selected")
struct MessageSelectionTests {
    @Test(
        "follows patterns of types",
        arguments: [
            ("command.*", true), ("command.PlaylistSelected", true), ("command.Playlist*", true), ("*.*Selected", true),
            ("command", true), ("PlaylistSelected", true), ("event.*", false), ("command.Playlist", false),
            ("command.playlistselected", false), ("*.Device?elected", false),
        ])
    func pattern(text: String, isMatch: Bool) throws {
        let pattern = try #require(MessagePattern(text))
        let message = try Envelope.fixed("command.PlaylistSelected")
        #expect(MessageSelection(types: [pattern]).matches(message) == isMatch)
    }

    @Test("refuses what no type can match", arguments: ["", "foo.Bar", "command.", "command.A.B", "event.É", ".A"])
    func refused(text: String) {
        #expect(MessagePattern(text) == nil)
    }

    @Test("asks the bus for no more than it must")
    func filters() throws {
        let exact = try #require(MessagePattern("event.PlaylistsLoaded"))
        let wild = try #require(MessagePattern("command.*"))
        let loaded = MessageFilter.type(try #require(MessageType("event.PlaylistsLoaded")), subject: "s")
        #expect(
            MessageSelection(types: [exact, wild], subject: "s").filters == [loaded, .kind(.command, subject: "s")])
        #expect(MessageSelection(kinds: [.event], types: [exact, wild], subject: "s").filters == [loaded])
        let anyKind = try #require(MessagePattern("PlaylistsLoaded"))
        #expect(MessageSelection(kinds: [.event], types: [anyKind], subject: "s").filters == [loaded])
        #expect(!MessageSelection(kinds: [.error], types: [exact]).filters.isEmpty, "a subscription has a filter")
        #expect(MessageSelection(kinds: [.error]).filters == [.kind(.error)])
        #expect(MessageSelection().filters == [.all])
    }

    @Test("leaves out the types that are excluded")
    func excluded() throws {
        let events = try #require(MessagePattern("event"))
        let pattern = try #require(MessagePattern("event.Tick*"))
        let selection = MessageSelection(types: [events], excluded: [pattern])
        #expect(try selection.matches(Envelope.fixed("event.Done")))
        #expect(try !selection.matches(Envelope.fixed("event.Ticked")))
        #expect(try MessageSelection(excluded: [pattern]).matches(Envelope.fixed("command.Go")))
    }

    @Test(
        "leaves out the transient messages about metrics, which tools cause themselves, unless their type is selected",
        arguments: ["event.MetricsRequested", "event.MetricsReported"])
    func metrics(type: String) throws {
        var message = try Envelope.fixed(type)
        message.position = nil
        #expect(!MessageSelection().matches(message) && !MessageSelection(kinds: [.event]).matches(message))
        #expect(MessageSelection(types: [try #require(MessagePattern("event.Metrics*"))]).matches(message))
        message.position = Position(epoch: 1, offset: 7)
        #expect(MessageSelection().matches(message), "it is recorded")
    }

    @Test("takes a message only if kind, type and subject all fit")
    func conjunction() throws {
        let message = try Envelope.fixed("event.X") { $0.subject = "s" }
        let pattern = try #require(MessagePattern("event.X"))
        #expect(MessageSelection(kinds: [.event], types: [pattern], subject: "s").matches(message))
        #expect(!MessageSelection(kinds: [.command], types: [pattern]).matches(message))
        #expect(!MessageSelection(kinds: [.event], subject: "t").matches(message))
    }

    @Test(
        "follows patterns of sources",
        arguments: [
            ("music-service", true), ("music-*", true), ("music-service/*", true), ("music-service/a?1", true),
            ("*/ab1", true), ("*", true), ("music", false), ("music-service/b*", false), ("ab1", false),
            ("music-service/", false),
        ])
    func source(pattern: String, isMatch: Bool) throws {
        let message = try Envelope.fixed("event.X", source: "music-service/ab1")
        #expect(MessageSelection(sources: [SourcePattern(pattern)]).matches(message) == isMatch)
    }

    @Test("takes a story's messages by its correlation, and what every condition is true of")
    func story() throws {
        let message = try Envelope.fixed("event.X", #"{"n":1}"#) { $0.correlationID = "c" }
        let (one, two) = (try WhereExpression("data.n == 1"), try WhereExpression("data.n == 2"))
        #expect(MessageSelection(correlationID: "c", conditions: [one]).matches(message))
        #expect(!MessageSelection(correlationID: "m1").matches(message))
        #expect(!MessageSelection(conditions: [one, two]).matches(message))
    }

    @Test(
        "matches patterns as people read them",
        arguments: [
            ("", "", true), ("*", "", true), ("a*b*c", "axxbyyc", true), ("a*b*c", "axxbyy", false), ("?", "集", true),
            ("?", "", false), ("a**", "a", true), ("*a", "ba", true), ("*ab", "aab", true), ("[a]", "a", false),
            ("[a]", "[a]", true), ("a", "A", false),
        ])
    func glob(pattern: String, text: String, isMatch: Bool) {
        #expect(Glob(pattern).matches(text) == isMatch)
    }

    @Test("has no pattern that takes for ever", .timeLimit(.minutes(1)))
    func slowGlob() {
        let pattern = Glob(String(repeating: "*a", count: 100) + "b")
        #expect(!pattern.matches(String(repeating: "a", count: 2000)))
    }
}
