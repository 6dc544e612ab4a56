import EventBus
import Monitor
import Testing

@Suite("Selection of messages")
struct MessageSelectionTests {
    @Test(
        "A selection matches patterns of types",
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

    @Test(
        "A pattern that no type can match is refused",
        arguments: ["", "foo.Bar", "command.", "command.A.B", "event.É", ".A"])
    func refused(text: String) {
        #expect(MessagePattern(text) == nil)
    }

    @Test("The selection requests only the necessary messages from the bus")
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

    @Test("A selection leaves out excluded types")
    func excluded() throws {
        let events = try #require(MessagePattern("event"))
        let pattern = try #require(MessagePattern("event.Tick*"))
        let selection = MessageSelection(types: [events], excluded: [pattern])
        #expect(try selection.matches(Envelope.fixed("event.Done")))
        #expect(try !selection.matches(Envelope.fixed("event.Ticked")))
        #expect(try MessageSelection(excluded: [pattern]).matches(Envelope.fixed("command.Go")))
    }

    @Test(
        "Transient messages about metrics are left out, unless their type is selected",
        arguments: ["event.MetricsRequested", "event.MetricsReported"])
    func metrics(type: String) throws {
        var message = try Envelope.fixed(type)
        message.position = nil
        #expect(!MessageSelection().matches(message) && !MessageSelection(kinds: [.event]).matches(message))
        #expect(MessageSelection(types: [try #require(MessagePattern("event.Metrics*"))]).matches(message))
        message.position = Position(epoch: 1, offset: 7)
        #expect(MessageSelection().matches(message), "it is recorded")
    }

    @Test("A message matches only if its kind, type and subject do")
    func conjunction() throws {
        let message = try Envelope.fixed("event.X") { $0.subject = "s" }
        let pattern = try #require(MessagePattern("event.X"))
        #expect(MessageSelection(kinds: [.event], types: [pattern], subject: "s").matches(message))
        #expect(!MessageSelection(kinds: [.command], types: [pattern]).matches(message))
        #expect(!MessageSelection(kinds: [.event], subject: "t").matches(message))
    }

    @Test(
        "A selection matches patterns of sources",
        arguments: [
            ("music-service", true), ("music-*", true), ("music-service/*", true), ("music-service/a?1", true),
            ("*/ab1", true), ("*", true), ("music", false), ("music-service/b*", false), ("ab1", false),
            ("music-service/", false),
        ])
    func source(pattern: String, isMatch: Bool) throws {
        let message = try Envelope.fixed("event.X", source: "music-service/ab1")
        #expect(MessageSelection(sources: [SourcePattern(pattern)]).matches(message) == isMatch)
    }

    @Test("A selection by story matches the correlation, and all conditions must be true")
    func story() throws {
        let message = try Envelope.fixed("event.X", #"{"n":1}"#) { $0.correlationID = "c" }
        let (one, two) = (try WhereExpression("data.n == 1"), try WhereExpression("data.n == 2"))
        #expect(MessageSelection(correlationID: "c", conditions: [one]).matches(message))
        #expect(!MessageSelection(correlationID: "m1").matches(message))
        #expect(!MessageSelection(conditions: [one, two]).matches(message))
    }

    @Test(
        "A pattern matches with '*' and '?', and every other character literally",
        arguments: [
            ("", "", true), ("*", "", true), ("a*b*c", "axxbyyc", true), ("a*b*c", "axxbyy", false), ("?", "集", true),
            ("?", "", false), ("a**", "a", true), ("*a", "ba", true), ("*ab", "aab", true), ("[a]", "a", false),
            ("[a]", "[a]", true), ("a", "A", false),
        ])
    func glob(pattern: String, text: String, isMatch: Bool) {
        #expect(Glob(pattern).matches(text) == isMatch)
    }

    @Test("Every pattern is matched in bounded time", .timeLimit(.minutes(1)))
    func slowGlob() {
        let pattern = Glob(String(repeating: "*a", count: 100) + "b")
        #expect(!pattern.matches(String(repeating: "a", count: 2000)))
    }
}
