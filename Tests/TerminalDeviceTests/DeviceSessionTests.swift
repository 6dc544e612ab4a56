import Contracts
import EventBus
import Foundation
import Navigation
import Presentation
import Testing
import Vocabulary

@testable import TerminalDevice

@Suite("Device session")
struct DeviceSessionTests {
    @Test("A device that is attached says so, with its origin")
    func attached() throws {
        var script = SessionScript(.interactive)
        let launch = try #require(try script.handle(.attached).published.first)
        #expect(launch.type == DomainEvent.LaunchFinished.type)
        #expect(launch.attributes.platform == "ios")
        #expect(launch.attributes.device == "phone")
        #expect(launch.subject == "anna")
    }

    @Test("What is drawn is reported after it, once, and what is leaving is gone; reports never expire")
    func reports() throws {
        var script = SessionScript(.interactive)
        let snapshot = try NavigationSnapshot.sample(root: "serviceSelection", leaving: [.sample("launch", 9)])
        let outputs = try script.show(snapshot)
        #expect(outputs.first?.isDrawing == true)
        #expect(outputs.published.map(\.type) == [Command.ScreenDisplayed.type, Command.ScreenGone.type])
        #expect(outputs.published.map(\.attributes.instance) == ["serviceSelection-1", "launch-9"])
        #expect(outputs.published.allSatisfy { $0.attributes.expiryTime == nil })
        #expect(try script.show(snapshot).published.isEmpty)
        #expect(try script.handle(.message(.answer(Document.Playlists.two))).published.isEmpty)
    }

    @Test("The state of another platform is not this device's")
    func otherPlatform() throws {
        var script = SessionScript(.interactive)
        #expect(try script.show(.sample("mac", root: "launch")).isEmpty)
        #expect(script.session.screen == nil)
    }

    @Test("A pick carries its origin and expires; a report does not")
    func pick() throws {
        var script = SessionScript(.interactive)
        _ = try script.show(.sample(root: "playlistSelection", path: [.sample("generatedPlaylist", 2)]))
        _ = try script.handle(.message(.answer(Document.GeneratedPlaylist.calm)))
        let play = try #require(try script.handle(.line("1")).published.first)
        #expect(play.type == Command.PlayOnSpotifyRequested.type)
        #expect(play.attributes.device == "phone")
        #expect(play.attributes.instance == "generatedPlaylist-2")
        #expect(play.attributes.expiryTime == play.attributes.time.addingTimeInterval(60))
        let back = try #require(try script.handle(.line("b")).published.first)
        #expect(back.attributes.instance == "generatedPlaylist-2")
        #expect(back.attributes.expiryTime == nil)
    }

    @Test("A person is told at once what cannot be picked, and asked again")
    func interactiveMiss() throws {
        var script = SessionScript(.interactive)
        _ = try script.show(.sample(root: "launch"))
        let outputs = try script.handle(.line("7"))
        #expect(outputs.said == ["There is no '7' to pick here."])
        #expect(outputs.wantsLine)
    }

    @Test(
        "A URL opens on the device where it began",
        arguments: [
            ("ios", "phone", true), ("ios", nil, true), ("ios", "tablet", false), ("mac", "phone", false),
            (nil, nil, false),
        ])
    func url(platform: String?, device: String?, opens: Bool) throws {
        var script = SessionScript(.interactive)
        let message = try Envelope(
            DomainEvent.URLOpenRequested(url: "https://a.b"), source: "test/1",
            origin: Origin(platform: platform, device: device))
        #expect(try script.handle(.message(message)).opened == (opens ? ["https://a.b"] : []))
    }

    @Test("The URL that was requested last is kept for a person until they pick something else, and opens with o")
    func openURL() throws {
        var script = SessionScript(.interactive)
        _ = try script.show(.sample(root: "serviceSelection"))
        let none = try script.handle(.line("o"))
        #expect(none.browsed.isEmpty && none.said == ["There is no URL to open here."] && none.wantsLine)
        let origin = Origin(platform: "ios")
        for url in ["https://a.b", "https://c.d"] {
            let request = DomainEvent.URLOpenRequested(url: url)
            _ = try script.handle(.message(Envelope(request, source: "test/1", origin: origin)))
        }
        let outputs = try script.handle(.line("o"))
        #expect(outputs.browsed == ["https://c.d"] && outputs.published.isEmpty && outputs.wantsLine)
        #expect(script.session.screen?.lines().last == "o open the URL   q quit")
        let error = ApplicationError(code: "a.b", message: "no")
        _ = try script.handle(.message(.answer(Document.ErrorBanner(errorID: "e1", error: error))))
        _ = try script.handle(.line("x"))
        #expect(script.session.screen?.url?.text == "https://c.d")
        _ = try script.handle(.line("1"))
        #expect(script.session.screen?.url == nil)
    }

    @Test("The URL of a log-in goes with the screen that asked for it, unless it came with the next one")
    func leftURL() throws {
        var script = SessionScript(.interactive)
        _ = try script.show(.sample(root: "serviceSelection"))
        let cause = try Envelope(DomainEvent.SpotifyAuthURLGenerated(url: "https://a.b"), source: "test/1")
        let request = try Envelope(
            DomainEvent.URLOpenRequested(url: "https://a.b"), source: "test/1", origin: Origin(platform: "ios"),
            causedBy: cause)
        _ = try script.handle(.message(request))
        _ = try script.show(.sample(root: "launch"), answering: cause)
        _ = try script.show(.sample(root: "launch", path: [.sample("generatedPlaylist", 2)]))
        #expect(script.session.requestedURL?.text == "https://a.b")
        _ = try script.show(.sample(root: "playlistSelection"))
        #expect(script.session.requestedURL == nil)
    }

    @Test("What must not be opened is told, and is not there to be opened")
    func unopenable() throws {
        var script = SessionScript(.interactive)
        _ = try script.show(.sample(root: "serviceSelection"))
        let request = DomainEvent.URLOpenRequested(url: "file:///etc/passwd")
        let outputs = try script.handle(
            .message(Envelope(request, source: "test/1", origin: Origin(platform: "ios"))))
        #expect(outputs.opened == ["file:///etc/passwd"])
        #expect(try script.handle(.line("o")).browsed.isEmpty)
    }

    @Test("What came too late is said to whom it concerns")
    func discarded() throws {
        var script = SessionScript(.interactive)
        _ = try script.show(.sample(root: "serviceSelection"))
        let pick = try #require(try script.handle(.line("1")).published.first)
        let mine = DomainEvent.MessageDiscarded(messageID: pick.id, reason: "expired")
        let other = DomainEvent.MessageDiscarded(messageID: "other", reason: "expired")
        #expect(try script.handle(.message(.answer(other))).said.isEmpty)
        #expect(try script.handle(.message(.answer(mine, to: pick))).said == ["That came too late: expired"])
    }

    @Test("A document that cannot be read is skipped, the one before stays")
    func unreadable() throws {
        var script = SessionScript(.interactive)
        _ = try script.show(.sample(root: "launch"))
        var odd = try Envelope.answer(Document.NavigationState(.sample(root: "serviceSelection")))
        odd.data = Data(#"{"platform": 7}"#.utf8)
        #expect(try script.handle(.message(odd)).first?.isComplaint == true)
        #expect(script.session.screen?.revision == 7)
    }
}
