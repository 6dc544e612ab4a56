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
        #expect(
            MessageSelection(kinds: [.event], types: [exact, wild], subject: "s").filters
                == [MessageFilter(kind: .event, name: "PlaylistsLoaded", subject: "s"), .kind(.command, subject: "s")])
        #expect(MessageSelection(kinds: [.error]).filters == [.kind(.error)])
        #expect(MessageSelection().filters == [.all])
    }

    @Test("takes a message only if kind, type and subject all fit")
    func conjunction() throws {
        let message = try Envelope.fixed("event.X") { $0.subject = "s" }
        let pattern = try #require(MessagePattern("event.X"))
        #expect(MessageSelection(kinds: [.event], types: [pattern], subject: "s").matches(message))
        #expect(!MessageSelection(kinds: [.command], types: [pattern]).matches(message))
        #expect(!MessageSelection(kinds: [.event], subject: "t").matches(message))
    }
}
