import Contracts
import DeviceTestSupport
import EventBus
import Navigation
import Testing
import Vocabulary

@testable import TerminalDevice

@Suite("Scripted answers")
struct ScriptTests {
    @Test("A line waits for its screen")
    func waits() throws {
        var script = SessionScript(.scripted)
        #expect(try script.handle(.line("Calm")).picked.isEmpty)
        #expect(try script.show(.sample(root: "playlistSelection")).picked.isEmpty)
        let outputs = try script.handle(.message(.answer(Document.Playlists.two)))
        #expect(outputs.picked.map(\.type) == [Command.PlaylistSelected.type])
        #expect(!outputs.wantsLine, "the next line's turn comes with the answer")
    }

    @Test("A number waits until the list is loaded, because it would mean something else before")
    func numberWaitsForList() throws {
        var script = SessionScript(.scripted)
        _ = try script.show(.sample(root: "playlistSelection"))
        #expect(try script.handle(.line("1")).picked.isEmpty)
        let picked = try script.handle(.message(.answer(Document.Playlists.two))).picked
        #expect(try picked.first?.decode(Command.PlaylistSelected.self).playlistID == "calm")
    }

    @Test("The next line follows the answer to the former one, not any change")
    func answered() throws {
        var script = SessionScript(.scripted)
        _ = try script.handle(.message(.answer(Document.Playlists.two)))
        _ = try script.show(.sample(root: "playlistSelection"))
        let pick = try #require(try script.handle(.line("Calm")).picked.first)
        // Other views and the reports of this view also change the state.
        #expect(try !script.show(.sample(revision: 8, root: "playlistSelection")).wantsLine)
        let next = try NavigationSnapshot.sample(
            revision: 9, root: "playlistSelection", path: [.sample("generatedPlaylist", 2)])
        #expect(try script.show(next, answering: pick).wantsLine)
    }

    @Test("A script whose last choice has failed ends when the banner is drawn, or at the deadline")
    func failedChoice() throws {
        var script = SessionScript(.scripted)
        _ = try script.handle(.message(.answer(Document.Playlists.two)))
        _ = try script.show(.sample(root: "playlistSelection"))
        let pick = try #require(try script.handle(.line("Calm")).picked.first)
        let error = ApplicationError(code: "a", message: "Sold out")
        #expect(try script.handle(.message(.answer(error, to: pick))).wantsLine)
        let end = try script.handle(.endOfInput)
        #expect(!end.ends)
        var other = script
        let banner = Document.ErrorBanner(errorID: "e", error: error)
        #expect(try !script.handle(.message(.answer(banner))).ends, "the banner of another error")
        let outputs = try script.handle(.message(.answer(banner, to: pick)))
        #expect(outputs.isDrawing && outputs.ends)
        let late = try other.handle(.deadline(try #require(end.deadlines.first)))
        #expect(late.ends && late.failure == nil, "no error notifier runs")
    }

    @Test("A number waits for another screen after a choice, and a name does not")
    func numberWaitsForScreen() throws {
        var script = SessionScript(.scripted)
        _ = try script.handle(.message(.answer(Document.GeneratedPlaylist.calm)))
        _ = try script.show(.sample(root: "generatedPlaylist"))
        let play = try #require(try script.handle(.line("1")).picked.first)
        #expect(try script.handle(.message(.answer(DomainEvent.PlaybackStarted(), to: play))).wantsLine)
        let deadline = try #require(try script.handle(.line("2")).deadlines.first)
        #expect(try script.show(.sample(revision: 8, root: "generatedPlaylist")).picked.isEmpty)
        let failure = try #require(try script.handle(.deadline(deadline)).failure)
        #expect(failure.message.contains("a number waits for another screen"))
        #expect(try script.handle(.line("Open in Spotify")).picked.count == 1)
    }

    @Test("A choice that leads out of the app is answered by the URL, even if an alert closes first")
    func openedURL() throws {
        var script = SessionScript(.scripted)
        let button = AlertButton(id: "open", title: "Open", sends: "command.DidRequestOpenPlaylistOnSpotify")
        let alert = Presentation(
            .alert, .sample("premiumRequired", 3), options: PresentationOptions(buttons: [button]))
        _ = try script.show(.sample(root: "generatedPlaylist", presentations: [alert]))
        let pick = try #require(try script.handle(.line("Open")).picked.first)
        #expect(try !script.show(.sample(revision: 8, root: "generatedPlaylist"), answering: pick).wantsLine)
        let url = try Envelope.answer(DomainEvent.URLOpenRequested(url: "https://a.b"), to: pick)
        let outputs = try script.handle(.message(url))
        #expect(outputs.opened == ["https://a.b"])
        #expect(outputs.wantsLine)
    }

    @Test("A script opens the URL that its choice has led to, and waits for it")
    func opensURL() throws {
        var script = SessionScript(.scripted)
        _ = try script.show(.sample(root: "serviceSelection"))
        let pick = try #require(try script.handle(.line("Connect Spotify")).picked.first)
        let url = try Envelope.answer(DomainEvent.URLOpenRequested(url: "https://a.b"), to: pick)
        #expect(try script.handle(.message(url)).wantsLine)
        let outputs = try script.handle(.line("o"))
        #expect(outputs.browsed == ["https://a.b"] && outputs.said == ["> o (https://a.b)"] && outputs.wantsLine)

        var early = SessionScript(.scripted)
        _ = try early.show(.sample(root: "serviceSelection"))
        #expect(try early.handle(.line("o")).browsed.isEmpty)
        #expect(try early.handle(.message(url)).browsed == ["https://a.b"])
    }

    @Test("A refusal or an error is an answer too")
    func refusals() throws {
        for answer in [
            ApplicationError(code: "a.b", message: "no"),
            DomainEvent.MessageDiscarded(messageID: "?", reason: "late"),
        ] as [any Message] {
            var script = SessionScript(.scripted)
            _ = try script.show(.sample(root: "serviceSelection"))
            let pick = try #require(try script.handle(.line("Connect Spotify")).picked.first)
            #expect(try script.handle(.message(.answer(answer, to: pick))).wantsLine)
        }
    }

    @Test("A dismissal of an error is answered by the end of the banner")
    func banner() throws {
        var script = SessionScript(.scripted)
        let error = ApplicationError(code: "a.b", message: "no")
        _ = try script.show(.sample(root: "serviceSelection"))
        #expect(try script.handle(.line("x")).picked.isEmpty)
        let pick = try script.handle(.message(.answer(Document.ErrorBanner(errorID: "e1", error: error)))).picked
        #expect(try pick.first?.decode(Command.ErrorDismissed.self).errorID == "e1")
        #expect(try script.handle(.message(.answer(Document.ErrorBanner()))).wantsLine)
    }

    @Test("A script can wait for a screen without a choice")
    func screen() throws {
        var script = SessionScript(.scripted)
        _ = try script.show(.sample(root: "serviceSelection"))
        #expect(try !script.handle(.line("@playlistSelection")).wantsLine)
        #expect(try script.show(.sample(root: "playlistSelection")).wantsLine)
    }

    @Test("A script ends when a screen has been shown")
    func end() throws {
        var script = SessionScript(.scripted)
        #expect(try !script.handle(.endOfInput).ends)
        #expect(try script.show(.sample(root: "launch")).ends)
    }

    @Test("A timeout reports what was awaited and what was on the screen, in one line")
    func timeout() throws {
        var script = SessionScript(.scripted)
        _ = try script.show(.sample(root: "serviceSelection"))
        let line = try #require(try script.handle(.line("Calm\u{7}")).deadlines.first)
        let failure = try #require(try script.handle(.deadline(line)).failure)
        #expect(failure.code == "device.timeout")
        #expect(
            failure.message
                == #"'Calm\u0007' could not be picked within 30.0 seconds; "#
                + "on screen is serviceSelection with Connect Spotify")
    }

    @Test("A screen from which the user cannot go back is named, at once for a person and in the timeout of a script")
    func withoutBack() throws {
        var snapshot = try NavigationSnapshot.sample(root: "list", path: [.sample("payment", 2)])
        snapshot.withoutBack = snapshot.state.path.map(\.id)
        var person = SessionScript(.interactive)
        _ = try person.show(snapshot)
        #expect(try person.handle(.line("b")).said == ["payment has no way back."])
        #expect(try person.handle(.line("x")).said == ["There is no 'x' to pick here."])
        var script = SessionScript(.scripted)
        _ = try script.show(snapshot)
        let line = try #require(try script.handle(.line("b")).deadlines.first)
        let failure = try #require(try script.handle(.deadline(line)).failure)
        #expect(failure.message.hasSuffix("; payment has no way back"))
    }

    @Test("A deadline of an answered line has no effect")
    func staleDeadline() throws {
        var script = SessionScript(.scripted)
        _ = try script.show(.sample(root: "serviceSelection"))
        let deadlines = try script.handle(.line("Connect Spotify")).deadlines
        #expect(deadlines.count == 2)
        #expect(try script.handle(.deadline(deadlines[0])).failure == nil)
        let failure = try script.handle(.deadline(deadlines[1])).failure
        #expect(
            failure?.message.hasPrefix(
                "'Connect Spotify' was sent and not answered within 30.0 seconds; no running process says that it "
                    + "receives command.SpotifyAuthorizationRequested; on screen is") == true)
    }

    @Test("A command without an answer has a receiver if a contract on the bus says so")
    func receiver() throws {
        var script = SessionScript(.scripted)
        let command = MessageContract(type: Command.SpotifyAuthorizationRequested.type, data: nil)
        let contract = Document.ServiceContract(
            name: "auth-service", version: "1", instance: "a", receives: [command], sends: [])
        _ = try script.handle(.message(.answer(contract)))
        _ = try script.show(.sample(root: "serviceSelection"))
        let deadlines = try script.handle(.line("Connect Spotify")).deadlines
        let failure = try script.handle(.deadline(try #require(deadlines.last))).failure
        #expect(failure?.message.contains("not answered within 30.0 seconds; on screen is") == true)
    }
}
