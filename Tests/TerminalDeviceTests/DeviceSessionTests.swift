import Contracts
import EventBus
import Foundation
import Navigation
import Presentation
import TerminalDevice
import Testing
import Vocabulary

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
