import Navigation
import SampleFlows
import Support
import Testing

@Suite("Deep links that only send commands")
struct LinkActionTests {
    private func session() throws -> Session {
        let flow = try Flow("tea", version: 1, platform: "ios", start: "menu") {
            Flow.Screen("menu")
            Flow.Screen("brewing")
            Flow.Screen("terms", gate: true)
            Flow.Transition(on: "command.Stop", when: [.path("brewing")], do: [.pop])
            Flow.Transition(on: "event.Began", do: [.push("brewing")])
            Flow.Transition(on: "event.TermsChanged", do: [.present("terms", as: .sheet)])
            Flow.Transition(on: "event.TermsAccepted", do: [.dismiss("terms")])
            Flow.Link("tea://note", when: [.presented("terms")], to: .init(root: "brewing"))
            Flow.Link("tea://note", when: [.path("brewing")], action: true, send: [.init("command.Note")])
            Flow.Link(
                "tea://stop?after={minutes:integer}", when: [.path("brewing")], action: true,
                send: [.init("command.Stop", ["after": "${url.minutes:-0}"]), .init("command.Note")])
            Flow.Link("tea://stop", when: [.presented("terms")], to: .init(root: "brewing"))
        }
        return Session(flow)
    }

    private static let stop: [Machine.Effect] = [
        .send(type: "command.Stop", data: ["after": 0]), .send(type: "command.Note", data: [:]),
    ]

    @Test("The link sends its commands each time, and changes no screens")
    func sends() throws {
        var session = try session()
        session.send("event.Began")
        let before = session.machine
        #expect(session.open("tea://stop") == Self.stop)
        #expect(session.open("tea://stop") == Self.stop)
        #expect(session.open("tea://stop?after=5").first == .send(type: "command.Stop", data: ["after": 5]))
        #expect(session.machine == before)
        #expect(session.machine.snapshot.url == nil)
        session.send("command.Stop")
        #expect(session.path == [])
    }

    @Test("The link is discarded if its conditions do not hold or a screen must be completed")
    func discarded() throws {
        var session = try session()
        #expect(
            session.open("tea://stop") == [
                .messageDiscarded(
                    messageID: "m1",
                    reason: "event.DeepLinkReceived: the link cannot be followed now: its conditions do not hold")
            ])
        session.send("event.Began")
        session.send("event.TermsChanged")
        let effects = session.open("tea://stop")
        #expect(effects.sent == [])
        #expect(
            effects.discards == [
                "event.DeepLinkReceived: the link cannot be followed now: screen 'terms' must be completed first"
            ])
        #expect(session.state.parked == nil)
        #expect(session.send("event.TermsAccepted").sent == [])
    }

    @Test("The link leaves a parked link parked, and a parked URL never sends commands")
    func parked() throws {
        var session = try session()
        session.open("tea://note")
        #expect(session.send("event.Began").sent == [])
        #expect(session.open("tea://stop") == Self.stop)
        #expect(session.state.parked?.url == "tea://note")
        #expect(session.open("tea://note").sent == ["command.Note"])
        #expect(session.state.parked?.messageID == "m1")
    }
}
