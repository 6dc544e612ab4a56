import Contracts
import Device
import DeviceTestSupport
import EventBus
import Foundation
import Navigation
import Presentation
import Testing
import Vocabulary

@Suite("Device session")
struct DeviceSessionTests {
    @Test("A device that starts publishes its launch, with its origin")
    func attached() throws {
        var session = SampleSession()
        let launch = try #require(try session.handle(.attached).published.first)
        #expect(launch.type == DomainEvent.LaunchFinished.type)
        #expect(launch.attributes.platform == "ios")
        #expect(launch.attributes.device == "phone")
        #expect(launch.subject == "anna")
    }

    @Test("Each drawn screen is reported once, and each leaving one as gone, and reports never expire")
    func reports() throws {
        var session = SampleSession()
        let snapshot = try NavigationSnapshot.sample(root: "serviceSelection", leaving: [.sample("launch", 9)])
        let outputs = try session.show(snapshot)
        #expect(outputs.first?.isDrawing == true)
        #expect(outputs.published.map(\.type) == [Command.ScreenDisplayed.type, Command.ScreenGone.type])
        #expect(outputs.published.map(\.attributes.instance) == ["serviceSelection-1", "launch-9"])
        #expect(outputs.published.allSatisfy { $0.attributes.expiryTime == nil })
        #expect(try session.show(snapshot).published.isEmpty)
        #expect(try session.handle(.message(.answer(Document.Playlists.two))).published.isEmpty)
    }

    @Test("A view with animations reports its screens itself, and repeated reports publish nothing")
    func animated() throws {
        var session = SampleSession(isAnimated: true)
        let path = [ScreenInstance.sample("generatedPlaylist", 2)]
        let snapshot = try NavigationSnapshot.sample(
            root: "playlistSelection", path: path, leaving: [.sample("launch", 9)])
        #expect(try session.show(snapshot).published.isEmpty)
        let reports: [(DeviceSession.Report, MessageType, String)] = [
            (.displayed(revision: 7), Command.ScreenDisplayed.type, "generatedPlaylist-2"),
            (.gone(instance: "launch-9"), Command.ScreenGone.type, "launch-9"),
            (.backStarted(instance: "generatedPlaylist-2"), Command.BackStarted.type, "generatedPlaylist-2"),
            (.backCancelled(instance: "generatedPlaylist-2"), Command.BackCancelled.type, "generatedPlaylist-2"),
            (.backCompleted(instance: "generatedPlaylist-2"), Command.BackCompleted.type, "generatedPlaylist-2"),
            (.dismissed(instance: "sheet-3"), Command.PresentationDismissed.type, "sheet-3"),
            (.tabSelected(instance: "root-1", tab: "home"), Command.TabSelected.type, "root-1"),
        ]
        for (report, type, instance) in reports {
            let message = try #require(try session.handle(.report(report)).published.first, "\(report)")
            #expect(message.type == type)
            #expect(message.attributes.instance == instance)
            #expect(message.attributes.device == "phone")
            #expect(message.attributes.expiryTime == nil)
        }
        #expect(try session.handle(.report(.displayed(revision: 7))).published.isEmpty)
        #expect(try session.handle(.report(.gone(instance: "launch-9"))).published.isEmpty)
        #expect(try session.handle(.report(.gone(instance: "never-4"))).published.isEmpty)
    }

    @Test("A device that continues after an interruption reports no launch")
    func continued() throws {
        var session = SampleSession(beginsSession: false)
        #expect(try session.handle(.attached).isEmpty)
    }

    @Test("A scene has all open screens, and only those in front have choices")
    func allScreens() throws {
        var session = SampleSession()
        _ = try session.handle(.message(.answer(Document.Playlists.two)))
        _ = try session.handle(.message(.answer(Document.GeneratedPlaylist.calm)))
        let screens = { (session: SampleSession) in session.scene?.screens ?? [] }
        _ = try session.show(.sample(root: "playlistSelection"))
        #expect(screens(session).map(\.choices.count) == [3])
        let play = try #require(screens(session).first?.choices.first)
        #expect(play.id == #"playlistSelection-1 command.PlaylistSelected {"playlistID":"calm"}"#)
        _ = try session.show(
            .sample(root: "playlistSelection", path: [.sample("generatedPlaylist", 2)]))
        #expect(screens(session).map(\.instance) == ["playlistSelection-1", "generatedPlaylist-2"])
        #expect(screens(session).map(\.isCovered) == [true, false])
        #expect(screens(session).map(\.choices.count) == [0, 3])
        #expect(screens(session).first?.content.lines == ["Calm · anna · 12 songs", "Rain · bert · 1 song"])
    }

    @Test("The state of another platform is ignored")
    func otherPlatform() throws {
        var session = SampleSession()
        #expect(try session.show(.sample("mac", root: "launch")).isEmpty)
        #expect(session.scene == nil)
    }

    @Test("A choice has its origin and expires, and a report does not expire")
    func pick() throws {
        var session = SampleSession()
        _ = try session.show(.sample(root: "playlistSelection", path: [.sample("generatedPlaylist", 2)]))
        _ = try session.handle(.message(.answer(Document.GeneratedPlaylist.calm)))
        let play = try #require(try session.choose(\.choices.first).published.first)
        #expect(play.type == Command.PlayOnSpotifyRequested.type)
        #expect(play.attributes.device == "phone")
        #expect(play.attributes.instance == "generatedPlaylist-2")
        #expect(play.attributes.expiryTime == play.attributes.time.addingTimeInterval(60))
        let back = try #require(try session.choose(\.back).published.first)
        #expect(back.attributes.instance == "generatedPlaylist-2")
        #expect(back.attributes.expiryTime == nil)
    }

    @Test("A window covers nothing, and back is possible in the main window")
    func window() throws {
        for (style, isCovered) in [(PresentationStyle.window, false), (.popover, true)] {
            var session = SampleSession()
            _ = try session.show(
                .sample(
                    root: "playlistSelection", path: [.sample("generatedPlaylist", 2)],
                    presentations: [Presentation(style, .sample("deviceActivation", 3))]))
            #expect(session.scene?.layers.map(\.isCovered) == [isCovered, false])
            #expect(session.scene?.active.count == (isCovered ? 1 : 2))
            #expect((session.scene?.back == nil) == isCovered)
        }
    }

    @Test(
        "A URL opens on the device where it began",
        arguments: [
            ("ios", "phone", true), ("ios", nil, true), ("ios", "tablet", false), ("mac", "phone", false),
            (nil, nil, false),
        ])
    func url(platform: String?, device: String?, opens: Bool) throws {
        var session = SampleSession()
        let message = try Envelope(
            DomainEvent.URLOpenRequested(url: "https://a.b"), source: "test/1",
            origin: Origin(platform: platform, device: device))
        #expect(try session.handle(.message(message)).opened == (opens ? ["https://a.b"] : []))
    }

    @Test("The URL of a log-in closes with the screen that requested it, unless it came with the next one")
    func leftURL() throws {
        var session = SampleSession()
        _ = try session.show(.sample(root: "serviceSelection"))
        let cause = try Envelope(DomainEvent.SpotifyAuthURLGenerated(url: "https://a.b"), source: "test/1")
        let request = try Envelope(
            DomainEvent.URLOpenRequested(url: "https://a.b"), source: "test/1", origin: Origin(platform: "ios"),
            causedBy: cause)
        _ = try session.handle(.message(request))
        _ = try session.show(.sample(root: "launch"), answering: cause)
        _ = try session.show(.sample(root: "launch", path: [.sample("generatedPlaylist", 2)]))
        #expect(session.scene?.requestedURL?.text == "https://a.b")
        _ = try session.show(.sample(root: "playlistSelection"))
        #expect(session.scene?.requestedURL == nil)
    }

    @Test("A discarded message is reported only to the device that sent it")
    func discarded() throws {
        var session = SampleSession()
        _ = try session.show(.sample(root: "serviceSelection"))
        let pick = try #require(try session.choose(\.choices.first).published.first)
        let mine = DomainEvent.MessageDiscarded(messageID: pick.id, reason: "expired")
        let other = DomainEvent.MessageDiscarded(messageID: "other", reason: "expired")
        #expect(try session.handle(.message(.answer(other))).said.isEmpty)
        #expect(try session.handle(.message(.answer(mine, to: pick))).said == ["Your choice was ignored: expired"])
    }

    @Test("An action asks a query, whose answer is shown until the document changes")
    func question() throws {
        var session = SampleSession()
        _ = try session.show(.sample(root: "generatedPlaylist"))
        var generated = Document.GeneratedPlaylist.calm
        generated.total = 3
        let document = try Envelope.answer(generated)
        _ = try session.handle(.message(document))
        for (offset, left) in [(1, 1), (2, 0)] {
            let query = try #require(try session.choose(\.more).asked.first)
            #expect(try query.decode(Query.PlaylistSongs.self).offset == offset)
            #expect(query.subject == "anna" && query.attributes.instance == "generatedPlaylist-1")
            #expect(query.attributes.expiryTime == nil)
            #expect(session.scene?.isLoading == true && session.scene?.more == nil, "it is asked once")
            let outputs = try session.handle(
                .answer(.success(.page(Document.GeneratedPlaylist.calm.songs, total: 3)), to: query.id))
            #expect(outputs.map(\.isDrawing) == [true, false] && outputs.last?.isAnswered == true)
            #expect(session.scene?.isLoading == false)
            let content = try #require(session.scene?.layers.first?.content)
            #expect(content.lines.count == offset + 1 + (left > 0 ? 1 : 0), "\(content.lines)")
            #expect(content.firstRow == offset)
            #expect((session.scene?.more == nil) == (left == 0))
        }
        _ = try session.handle(.message(document))
        #expect(session.scene?.layers.first?.content.lines.count == 3, "it is the same document again")
        _ = try session.handle(.message(.answer(generated)))
        #expect(session.scene?.layers.first?.content.lines == ["1. Rain · Cloud · 3:05", "… and 2 more"])
    }

    @Test("A query without an answer can be asked again, and an answer for an older document is not shown")
    func noAnswer() throws {
        var session = SampleSession()
        _ = try session.show(.sample(root: "generatedPlaylist"))
        var generated = Document.GeneratedPlaylist.calm
        generated.total = 3
        _ = try session.handle(.message(.answer(generated)))
        let rows = ["1. Rain · Cloud · 3:05", "… and 2 more"]
        let error = ApplicationError(code: "a.b", message: "It broke", recovery: "Mend it.")
        let answers: [(Result<Envelope, any Error>, String)] = [
            (.failure(BusError(.unserved, "nobody serves it")), "nobody serves it"),
            (.success(try .answer(error)), "It broke · Mend it."),
            (.success(try .answer(DomainEvent.LaunchFinished())), "event.LaunchFinished"),
        ]
        for (answer, said) in answers {
            let query = try #require(try session.choose(\.more).asked.first)
            let outputs = try session.handle(.answer(answer, to: query.id))
            #expect(outputs.said.count == 1 && outputs.said.first?.contains(said) == true, "\(outputs.said)")
            #expect(outputs.last?.isAnswered == true)
            #expect(session.scene?.layers.first?.content.lines == rows && session.scene?.more != nil)
        }
        for withdraws in [false, true] {
            let query = try #require(try session.choose(\.more).asked.first)
            if withdraws {
                _ = try session.handle(.message(.tombstone(of: Document.GeneratedPlaylist.type)))
            }
            _ = try session.handle(.message(.answer(generated)))
            let outputs = try session.handle(
                .answer(.success(.page(Document.GeneratedPlaylist.calm.songs, total: 3)), to: query.id))
            #expect(outputs.last?.isAnswered == true && outputs.said.isEmpty)
            #expect(session.scene?.layers.first?.content.lines == rows && session.scene?.more != nil)
        }
    }

    @Test("A document that cannot be read is skipped, and the former one stays")
    func unreadable() throws {
        var session = SampleSession()
        _ = try session.show(.sample(root: "launch"))
        var odd = try Envelope.answer(Document.NavigationState(.sample(root: "serviceSelection")))
        odd.data = Data(#"{"platform": 7}"#.utf8)
        #expect(try session.handle(.message(odd)).first?.isComplaint == true)
        #expect(session.scene?.revision == 7)
    }
}

/// A session on Anna's phone.
extension Scene {
    fileprivate var more: Choice? { choices.first { $0.label == "Show more" } }
}

extension [DeviceSession.Output] {
    fileprivate var asked: [Envelope] {
        compactMap { if case .ask(let query) = $0 { query } else { nil } }
    }
}

extension DeviceSession.Output {
    fileprivate var isAnswered: Bool { if case .answered = self { true } else { false } }
}

private struct SampleSession {
    private var session: DeviceSession

    init(isAnimated: Bool = false, beginsSession: Bool = true) {
        session = DeviceSession(
            .phone, screens: .focusPlayer, commandLifetime: .seconds(60), isAnimated: isAnimated,
            beginsSession: beginsSession)
    }

    var scene: Scene? { session.scene }

    mutating func handle(_ input: DeviceSession.Input) throws -> [DeviceSession.Output] {
        try session.handle(input)
    }

    mutating func show(_ snapshot: NavigationSnapshot, answering cause: Envelope? = nil) throws
        -> [DeviceSession.Output]
    {
        try handle(.message(.answer(Document.NavigationState(snapshot), to: cause)))
    }

    mutating func choose(_ choice: (Scene) -> Choice?) throws -> [DeviceSession.Output] {
        let scene = try #require(scene)
        let choice = choice(scene)
        return try handle(.choice(#require(choice)))
    }
}
