import Navigation
import Testing

@Suite("Restoring a machine from a snapshot")
struct RestorationTests {
    @Test("A restored machine is the one that took the snapshot, and waits again for what is leaving")
    func restored() throws {
        let session = try Session.showingPlaylist(on: "ios")
        let restoration = Restoration(session.machine.snapshot, flow: session.machine.flow)
        #expect(restoration.machine == session.machine)
        #expect(restoration.dropped.isEmpty)
        #expect(
            restoration.effects == [
                .expectScreenGone(instance: "launch-1"), .expectScreenGone(instance: "serviceSelection-2"),
            ])
    }

    @Test("What the flow no longer has is dropped, with all that lay on it")
    func unknownScreen() throws {
        let flow = try ActionTests.flow(.replacePath(["b", "c", "d"]), .present("e", as: .sheet))
        var session = Session(flow)
        session.send("event.Go")
        let restoration = Restoration(session.machine.snapshot, flow: try without("c"))
        #expect(restoration.machine.state.path.map(\.screen) == ["b"])
        #expect(restoration.machine.state.presentations.isEmpty)
        #expect(restoration.dropped.map(\.id) == ["c-3", "d-4", "e-5"])
        #expect(restoration.effects.dismissals == ["e-5", "d-4", "c-3"])
        #expect(restoration.machine.state.leaving.map(\.id) == ["e-5", "d-4", "c-3"])
        #expect(restoration.machine.revision == session.machine.revision + 1)
    }

    @Test("Of nested presentations those below the unknown one stay")
    func unknownPresentation() throws {
        let flow = try ActionTests.flow(
            .present("b", as: .sheet), .push("c"), .push("d"), .present("e", as: .sheet))
        var session = Session(flow)
        session.send("event.Go")
        let withoutTop = Restoration(session.machine.snapshot, flow: try without("e")).machine.state
        #expect(withoutTop.presentations.map(\.instances).map { $0.map(\.screen) } == [["b", "c", "d"]])
        let withoutMiddle = Restoration(session.machine.snapshot, flow: try without("d")).machine.state
        #expect(withoutMiddle.presentations.map(\.instances).map { $0.map(\.screen) } == [["b", "c"]])
        #expect(Restoration(session.machine.snapshot, flow: try without("b")).machine.state.presentations.isEmpty)
    }

    @Test("Without its root a session begins anew, with an instance that nothing else has had")
    func unknownRoot() throws {
        var session = Session(try ActionTests.flow(.setRoot("b"), .push("c")))
        session.send("event.Go")
        let restoration = Restoration(session.machine.snapshot, flow: try without("b"))
        #expect(restoration.machine.state.root.instance == ScreenInstance(screen: "a", id: "a-4"))
        #expect(restoration.dropped.map(\.id) == ["b-2", "c-3"])
    }

    @Test("A column with an unknown screen is emptied")
    func unknownColumn() throws {
        var session = Session(
            try ActionTests.flow(
                .setRoot("b", container: .split), .show("c", column: "detail"), .show("d", column: "side")))
        session.send("event.Go")
        let restoration = Restoration(session.machine.snapshot, flow: try without("c"))
        #expect(restoration.machine.state.root.container?.stacks.map(\.instance.screen) == ["d"])
        #expect(restoration.dropped.map(\.screen) == ["c"])
    }

    @Test("Another platform's snapshot leads nowhere but to the start")
    func otherPlatform() throws {
        let snapshot = try Session.showingPlaylist(on: "mac").machine.snapshot
        let restoration = Restoration(snapshot, flow: try FlowFiles.flow("ios"))
        #expect(restoration.machine.state.standing.map(\.screen) == ["launch"])
        #expect(restoration.dropped.map(\.screen) == ["playlistSelection", "generatedPlaylist"])
    }

    private func without(_ name: String) throws -> Flow {
        try Flow("letters", version: 2, platform: "ios", start: "a") {
            for letter in ["a", "b", "c", "d", "e"] where letter != name { Flow.Screen(letter) }
        }
    }
}
