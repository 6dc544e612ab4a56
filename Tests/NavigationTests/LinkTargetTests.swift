import Navigation
import SampleFlows
import Support
import Testing

@Suite("Targets of deep links")
struct LinkTargetTests {
    /// A session of a flow with these links and four screens. The last screen is a gate.
    private func session(_ links: Flow.Link..., go actions: Flow.Action...) throws -> Session {
        let flow = try Flow("letters", version: 1, platform: "ios", start: "a") {
            for name in ["a", "b", "c", "d"] { Flow.Screen(name, gate: name == "d") }
            if !actions.isEmpty { Flow.Transition(on: "event.Go", do: actions) }
            for link in links { link }
        }
        return Session(flow)
    }

    @Test("A link to the current state is followed even if its conditions no longer hold")
    func thereAlready() throws {
        var session = try session(Flow.Link("x:b", when: [.root("a")], to: .init(root: "b")))
        session.open("x:b")
        #expect(session.root == "b")
        let there = session.machine
        #expect(session.open("x:b").isEmpty)
        #expect(session.machine == there)
    }

    @Test("A link to the mandatory screen that is open does not wait for its end")
    func gateItself() throws {
        var session = try session(Flow.Link("x:d", to: .init(root: "d")))
        session.open("x:d")
        #expect(session.root == "d")
        session.open("x:d")
        #expect(session.state.parked == nil)
    }

    @Test("A presentation is opened again when a link changes the path beneath it")
    func presentedOverPath() throws {
        var session = try session(
            Flow.Link("x:c", to: .init(root: "a", path: ["b"], present: .init("c", as: .sheet))),
            go: .present("c", as: .sheet))
        session.send("event.Go")
        #expect(session.open("x:c").dismissals == ["c-2"])
        #expect(session.state.open.map(\.id) == ["a-1", "b-3", "c-4"])
        #expect(session.machine.snapshot.url == "x:c")
    }

    @Test("The first link of a URL whose conditions hold is followed, and the state has that URL")
    func alternatives() throws {
        let links = [
            Flow.Link("x:home", when: [.root("b", "c")], to: .init(root: "c")),
            Flow.Link("x:home", when: [.root("a", "d")], to: .init(root: "d")),
        ]
        var first = try session(links[0], links[1])
        first.open("x:home")
        #expect(first.root == "d")
        #expect(first.machine.snapshot.url == "x:home")
        var second = try session(links[0], links[1], go: .setRoot("b"))
        second.send("event.Go")
        second.open("x:home")
        #expect(second.root == "c")
        #expect(second.machine.snapshot.url == "x:home")
    }

    @Test("A state has no URL if an earlier link leads that URL elsewhere")
    func takenURL() throws {
        var session = try session(
            Flow.Link("x:item/new", to: .init(root: "a")),
            Flow.Link("x:item/{id}", to: .init(root: .init(.screen("b", ["id": "${url.id}"])))),
            go: .setRoot(.screen("b", ["id": "${data.id}"])))
        session.send("event.Go", ["id": "7"])
        #expect(session.machine.snapshot.url == "x:item/7")
        session.send("event.Go", ["id": "new"])
        #expect(session.machine.snapshot.url == nil)
        for id in [.null, [1], "..", ""] as [JSONValue] {
            session.send("event.Go", ["id": id])
            #expect(session.machine.snapshot.url == nil)
        }
    }

    @Test("A state with two links has the URL of the first")
    func firstURL() throws {
        var session = try session(
            Flow.Link("x:b", to: .init(root: "b")), Flow.Link("https://example.org/b", to: .init(root: "b")))
        session.open("https://example.org/b")
        #expect(session.machine.snapshot.url == "x:b")
    }

    @Test("A state has a URL only if a value that it uses twice is the same in both places")
    func consistent() throws {
        let link = Flow.Link(
            "x:{id}?q={q}",
            to: .init(
                root: .init(.screen("a", ["id": "${url.id}", "q": "${url.q}"])),
                path: [.screen("b", ["id": "${url.id}", "q": "${url.q}"])]
            )
        )
        func url(_ root: [String: JSONValue], _ top: [String: JSONValue]) throws -> String? {
            var session = try session(link, go: .setRoot(.screen("a", root)), .push(.screen("b", top)))
            session.send("event.Go")
            return session.machine.snapshot.url
        }
        #expect(try url(["id": "1"], ["id": "1"]) == "x:1")
        #expect(try url(["id": "1", "q": 2], ["id": "1", "q": "2"]) == "x:1?q=2")
        #expect(try url(["id": "1"], ["id": "2"]) == nil)
        #expect(try url(["id": "1", "q": "2"], ["id": "1"]) == nil)
        #expect(try url(["id": "1"], ["id": "1", "more": "2"]) == nil)
        #expect(try url(["id": "1"], [:]) == nil)
    }

    @Test("A link selects a tab, sets its path, and keeps the other tabs")
    func tabs() throws {
        let root = Flow.Link.Root("b", container: .tabs([.tab("x", "a"), .tab("y", "b")]))
        var session = try session(
            Flow.Link("x:y/c", to: .init(root: root, tab: "y", path: ["c"])),
            Flow.Link("x:x", to: .init(root: root, tab: "x")), go: .push("c"))
        session.open("x:y/c")
        #expect(session.state.open.map(\.id) == ["b-2", "a-3", "b-4", "c-5"])
        #expect(session.state.top.id == "c-5")
        #expect(session.machine.snapshot.url == "x:y/c")
        #expect(session.open("x:x").isEmpty)
        #expect(session.state.top.id == "a-3")
        #expect(session.state.isOpen("c-5"))
        #expect(session.machine.snapshot.url == "x:x")
        session.send("event.Go")
        #expect(session.machine.snapshot.url == nil)
        #expect(session.open("x:y/c").isEmpty)
        #expect(session.state.open.map(\.id) == ["b-2", "a-3", "c-6", "b-4", "c-5"])
        session.report("BackCompleted", "c-5")
        #expect(session.machine.snapshot.url == nil)
        session.open("x:x")
        session.report("TabSelected", "b-2", ["tab": "y"])
        #expect(session.state.top.id == "b-4")
        #expect(session.open("x:x").isEmpty)
        #expect(session.machine.snapshot.url == "x:x")
    }

    @Test("The first screen of a tab that a link selects has values of the URL")
    func tabArguments() throws {
        let search = Flow.Tab.tab("search", .screen("c", ["q": "${url.q}", "page": "${url.page}"]))
        let root = Flow.Link.Root("a", container: .tabs(["b", search]))
        var session = try session(Flow.Link("x:find/{q}?page={page}", to: .init(root: root, tab: "search")))
        session.open("x:find/cello")
        #expect(session.state.top == ScreenInstance(screen: "c", id: "c-4", arguments: ["q": "cello"]))
        #expect(session.machine.snapshot.url == "x:find/cello")
        // A changed value of the query changes the arguments of the same instance.
        #expect(session.open("x:find/cello?page=2").isEmpty)
        #expect(session.state.top.id == "c-4")
        #expect(session.machine.snapshot.url == "x:find/cello?page=2")
        // Tabs are created together with their root, so a new instance of the tab's first screen needs a new root.
        #expect(session.open("x:find/bass").dismissals == ["c-4", "b-3", "a-2"])
        #expect(session.machine.snapshot.url == "x:find/bass")
    }

    @Test("A link to a split root keeps the columns that it names, and empties the others")
    func columns() throws {
        var session = try session(
            Flow.Link(
                "x:{id}",
                to: .init(
                    root: .init("a", container: .split),
                    columns: ["detail": .screen("b", ["id": "${url.id}"])]
                )
            ),
            go: .show("c", column: "side"))
        session.open("x:1")
        #expect(session.state.open.map(\.id) == ["a-2", "b-3"])
        session.send("event.Go")
        #expect(session.machine.snapshot.url == nil)
        #expect(session.open("x:1").dismissals == ["c-4"])
        #expect(session.state.open.map(\.id) == ["a-2", "b-3"])
        #expect(session.open("x:2").dismissals == ["b-3"])
        #expect(session.machine.snapshot.url == "x:2")
    }

    @Test("A link sets a column's path, and keeps the screens that it names")
    func columnPaths() throws {
        let root = Flow.Link.Root("a", container: .split)
        func link(_ url: String, _ path: [Flow.Destination]) -> Flow.Link {
            Flow.Link(url, to: .init(root: root, columns: ["detail": .screen("b", ["id": "${url.id}"], path: path)]))
        }
        var session = try session(
            link("x:{id}", []), link("x:{id}/c", ["c"]), go: .push("c", column: "detail"), .push("b"))
        session.open("x:1/c")
        #expect(session.state.open.map(\.id) == ["a-2", "b-3", "c-4"])
        #expect(session.machine.snapshot.url == "x:1/c")
        session.report("BackCompleted", "c-4")
        #expect(session.machine.snapshot.url == "x:1")
        session.send("event.Go")
        #expect(session.machine.snapshot.url == nil)
        #expect(session.open("x:1/c").dismissals == ["b-6"])
        #expect(session.state.open.map(\.id) == ["a-2", "b-3", "c-5"])
        #expect(session.open("x:2").dismissals == ["c-5", "b-3"])
        #expect(session.state.open.map(\.id) == ["a-2", "b-7"])
    }

    @Test("A link waits until a dialog is answered")
    func dialog() throws {
        let options = PresentationOptions(buttons: [AlertButton(id: "ok", title: "OK")])
        var session = try session(
            Flow.Link("x:b", to: .init(root: "b")), go: .present("c", as: .dialog, options: options))
        session.send("event.Go")
        session.open("x:b")
        #expect(session.state.parked?.url == "x:b")
        session.report("AlertAnswered", session.state.top.id, ["button": "ok"])
        #expect(session.machine.snapshot.url == "x:b")
        #expect(session.machine.revision == 3)
    }

    @Test("A root whose arguments differ only in the query stays, with all screens on it")
    func rootQuery() throws {
        var session = try session(
            Flow.Link(
                "x:list?sort={sort}",
                to: .init(root: .init(.screen("b", ["sort": "${url.sort}"])), path: ["c"])
            ))
        session.open("x:list?sort=name")
        #expect(session.open("x:list?sort=date").isEmpty)
        #expect(session.state.open.map(\.id) == ["b-2", "c-3"])
        #expect(session.state.root.instance.arguments == ["sort": "date"])
    }
}
