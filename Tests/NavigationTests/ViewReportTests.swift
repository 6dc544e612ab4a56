import Navigation
import SampleFlows
import Support
import Testing

@Suite("Reports of views")
struct ViewReportTests {
    @Test("A completed back pops the instance, and does not expect it to leave")
    func backCompleted() throws {
        var session = try Session.showingPlaylist(on: "ios")
        let effects = session.report("BackCompleted", "generatedPlaylist-4")
        #expect(session.path.isEmpty)
        #expect(effects == [.screenDismissed(instance: "generatedPlaylist-4", screen: "generatedPlaylist")])
        #expect(!session.leaving.contains("generatedPlaylist-4"))
    }

    @Test("A back that is started, cancelled, and started again until it completes pops once")
    func backCancelled() throws {
        var session = try Session.showingPlaylist(on: "ios")
        let revision = session.machine.revision
        for report in ["BackStarted", "BackCancelled", "BackStarted"] {
            #expect(session.report(report, "generatedPlaylist-4").isEmpty)
            #expect(session.machine.revision == revision)
        }
        session.report("BackCompleted", "generatedPlaylist-4")
        #expect(session.machine.revision == revision + 1)
        #expect(session.path.isEmpty)
    }

    @Test("A back to a lower screen pops all above it, the topmost first")
    func backOverSeveral() throws {
        var session = Session(try ActionTests.flow(.replacePath(["b", "c", "d"])))
        session.send("event.Go")
        let effects = session.report("BackCompleted", "c-3")
        #expect(session.path == ["b"])
        #expect(effects.dismissals == ["d-4", "c-3"])
    }

    @Test("A sheet that was presented during a swipe back closes with its screen")
    func backUnderSheet() throws {
        var session = try Session.showingPlaylist(on: "ios")
        session.report("BackStarted", "generatedPlaylist-4")
        session.send("event.SpotifyDeviceActivationRequired")
        let effects = session.report("BackCompleted", "generatedPlaylist-4")
        #expect(session.presented.isEmpty)
        #expect(session.path.isEmpty)
        #expect(session.leaving.last == "deviceActivation-5")
        #expect(effects.dismissals == ["deviceActivation-5", "generatedPlaylist-4"])
    }

    @Test("A sheet that is swiped away closes with all that it presents, and leaves only once")
    func presentationDismissed() throws {
        var session = try Session.showingPlaylist(on: "ios")
        session.send("event.SpotifyDeviceActivationRequired")
        session.send("event.SpotifyPremiumOnlyActionAttempted")
        let leaving = session.leaving
        let effects = session.report("PresentationDismissed", "deviceActivation-5")
        #expect(session.presented.isEmpty)
        #expect(session.leaving == leaving)
        #expect(effects.dismissals == ["premiumRequired-6", "deviceActivation-5"])
    }

    @Test(
        "A repeated report changes nothing and is not reported as discarded",
        arguments: ["BackCompleted", "PresentationDismissed", "AlertAnswered", "ScreenGone"])
    func repeated(report: String) throws {
        var session = try Session.showingPlaylist(on: "ios")
        session.send("event.SpotifyDeviceActivationRequired")
        session.send("event.SpotifyPremiumOnlyActionAttempted")
        let instance = [
            "BackCompleted": "generatedPlaylist-4", "PresentationDismissed": "deviceActivation-5",
            "AlertAnswered": "premiumRequired-6", "ScreenGone": "launch-1",
        ][report, default: ""]
        let first = session.report(report, instance, ["button": "open"])
        #expect(first.discards.isEmpty)
        let after = session.machine
        #expect(session.report(report, instance, ["button": "open"]).isEmpty)
        #expect(session.machine == after)
    }

    /// A session whose user was logged out while a screen was presented over the playlist.
    private func loggedOut(over presented: String) throws -> Session {
        var session = try Session.showingPlaylist(on: "ios")
        session.send(presented)
        session.send("event.SpotifyAuthorizationUpdated", ["status": "deauthorized"])
        return session
    }

    @Test("A back or dismissal that a rule has already made changes nothing")
    func agreesWithProgram() throws {
        var session = try loggedOut(over: "event.SpotifyDeviceActivationRequired")
        let after = session.machine
        #expect(session.report("PresentationDismissed", "deviceActivation-5").isEmpty)
        #expect(session.report("BackCompleted", "generatedPlaylist-4").isEmpty)
        #expect(session.machine == after)
    }

    @Test("An answer to a dismissed alert is discarded")
    func answeredTooLate() throws {
        var session = try loggedOut(over: "event.SpotifyPremiumOnlyActionAttempted")
        let after = session.machine
        let effects = session.report("AlertAnswered", "premiumRequired-5", ["button": "open"])
        #expect(
            effects.discards == [
                "command.AlertAnswered: screen instance 'premiumRequired-5' was dismissed or never existed"
            ])
        #expect(effects.count == 1)
        #expect(session.machine == after)
    }

    @Test("A second, different answer to an alert is discarded with a report")
    func answeredTwice() throws {
        var session = try Session.showingPlaylist(on: "ios")
        session.send("event.SpotifyPremiumOnlyActionAttempted")
        session.report("AlertAnswered", "premiumRequired-5", ["button": "cancel"])
        #expect(session.report("AlertAnswered", "premiumRequired-5", ["button": "cancel"]).isEmpty)
        let effects = session.report("AlertAnswered", "premiumRequired-5", ["button": "open"])
        #expect(
            effects.discards == [
                "command.AlertAnswered: screen instance 'premiumRequired-5' was dismissed or never existed"
            ])
        #expect(effects.count == 1)
    }

    @Test("An instance that has left is forgotten, and later reports of it are discarded")
    func screenGone() throws {
        var session = try Session("ios")
        session.send("event.LaunchFinished")
        #expect(session.report("ScreenGone", "launch-1").isEmpty)
        #expect(session.leaving.isEmpty)
        #expect(session.machine.revision == 2)
        #expect(!session.report("BackCompleted", "launch-1").discards.isEmpty)
    }

    @Test("The report that a swiped-away screen is gone changes nothing")
    func goneAfterSwipe() throws {
        var session = try Session.showingPlaylist(on: "ios")
        session.report("BackCompleted", "generatedPlaylist-4")
        let after = session.machine
        #expect(session.report("ScreenGone", "generatedPlaylist-4").isEmpty)
        #expect(session.machine == after)
    }

    @Test("Invalid reports are discarded with a reason and change nothing")
    func nonsense() throws {
        var session = try Session.showingPlaylist(on: "ios")
        session.send("event.SpotifyPremiumOnlyActionAttempted")
        let before = session.machine
        let reports: [(String, JSONValue, String)] = [
            ("BackCompleted", ["instance": "nothing-9"], "screen instance 'nothing-9' was dismissed or never existed"),
            ("BackCompleted", [:], "the field 'instance' is missing"),
            (
                "BackStarted", ["instance": "playlistSelection-3"],
                "screen instance 'playlistSelection-3' is not on a path"
            ),
            (
                "BackCompleted", ["instance": "premiumRequired-5"],
                "screen instance 'premiumRequired-5' is not on a path"
            ),
            (
                "PresentationDismissed", ["instance": "generatedPlaylist-4"],
                "screen instance 'generatedPlaylist-4' is not presented"
            ),
            (
                "AlertAnswered", ["instance": "generatedPlaylist-4", "button": "open"],
                "screen instance 'generatedPlaylist-4' is not an alert or a dialog"
            ),
            (
                "AlertAnswered", ["instance": "premiumRequired-5", "button": "ok"],
                "the alert has no button 'ok'; its buttons are open, cancel"
            ),
            (
                "ScreenGone", ["instance": "generatedPlaylist-4"],
                "screen instance 'generatedPlaylist-4' has not been dismissed"
            ),
            ("ScreenGone", ["instance": "nothing-9"], "screen instance 'nothing-9' is not leaving"),
            (
                "TabSelected", ["instance": "playlistSelection-3", "tab": "x"],
                "screen instance 'playlistSelection-3' has no tab 'x'"
            ),
            ("ScreenDisplayed", ["revision": 99], "revision 99 does not exist yet"),
            ("ScreenDisplayed", [:], "the field 'revision' is missing"),
            ("ScreenDisplayed", "garbage", "the field 'revision' is missing"),
        ]
        for (name, data, reason) in reports {
            let effects = session.send("command.\(name)", data, platform: "ios")
            #expect(effects.discards == ["command.\(name): \(reason)"])
        }
        #expect(session.machine == before)
    }

    @Test("A report of an earlier revision changes nothing")
    func displayed() throws {
        var session = try Session.showingPlaylist(on: "ios")
        let before = session.machine
        #expect(session.send("command.ScreenDisplayed", ["revision": 1], platform: "ios").isEmpty)
        #expect(session.send("command.ScreenDisplayed", ["revision": 3], platform: "ios").isEmpty)
        #expect(session.machine == before)
    }

    @Test("Reports and late commands of another platform are ignored")
    func otherPlatform() throws {
        var session = try Session.showingPlaylist(on: "ios")
        let before = session.machine
        let report: JSONValue = ["instance": "generatedPlaylist-4"]
        #expect(session.send("command.BackCompleted", report, platform: "mac").isEmpty)
        #expect(session.send("command.PlayOnSpotifyRequested", platform: "mac", instance: "dead-9").isEmpty)
        #expect(session.machine == before)
    }

    @Test("A tool without a platform can report for a view")
    func toolReports() throws {
        var session = try Session.showingPlaylist(on: "ios")
        session.send("command.BackCompleted", ["instance": "generatedPlaylist-4"])
        #expect(session.path.isEmpty)
    }

    @Test("A command of a dismissed screen is discarded, whether a rule matches or not")
    func lateCommands() throws {
        var session = try Session.showingPlaylist(on: "ios")
        session.send("event.SpotifyDeviceActivationRequired")
        session.send("command.DeviceSelected", platform: "ios", instance: "deviceActivation-5")
        let after = session.machine
        for type in ["command.DeviceSelected", "command.OpenAnotherAppRequested"] {
            let effects = session.send(type, ["url": "https://a.b"], platform: "ios", instance: "deviceActivation-5")
            #expect(
                effects.discards == ["\(type): screen instance 'deviceActivation-5' was dismissed or never existed"])
            #expect(effects.count == 1)
        }
        #expect(session.machine == after)
    }

    @Test("An event of a dismissed screen is still processed")
    func lateEvents() throws {
        var session = try Session("ios")
        #expect(!session.send("event.LaunchFinished", platform: "ios", instance: "gone-9").isEmpty)
        #expect(session.root == "serviceSelection")
    }

    @Test("Messages of another session are ignored")
    func otherSession() throws {
        var machine = Machine(flow: try ShippedFlows.flow("ios"), session: "anna")
        #expect(machine.handle(Machine.Input(id: "1", type: "event.LaunchFinished", subject: "ben")).isEmpty)
        #expect(machine.revision == 0)
        #expect(!machine.handle(Machine.Input(id: "2", type: "event.LaunchFinished", subject: "anna")).isEmpty)
    }

    @Test("The number of remembered departures is bounded")
    func departuresAreBounded() throws {
        var session = Session(try ActionTests.flow(.push("b")))
        for number in 2...60 {
            session.send("event.Go")
            session.report("BackCompleted", "b-\(number)")
        }
        #expect(session.machine.snapshot.memory.departures.count == 16)
        #expect(session.report("BackCompleted", "b-60").isEmpty)
        #expect(!session.report("BackCompleted", "b-2").discards.isEmpty)
    }
}
