import Navigation
import SampleFlows
import Support
import Testing

@Suite("Tabs and columns")
struct ContainerTests {
    private static let tabs = Flow.Action.setRoot("a", container: .tabs(["b", .tab("search", .screen("c", ["q": 1]))]))
    private static let columns = Flow.Action.setRoot("a", container: .split)

    /// A session in which `event.Go` has taken `actions`, and `event.Next` takes `next`.
    private func session(_ actions: Flow.Action..., next: Flow.Action...) throws -> Session {
        let flow = try Flow("letters", version: 1, platform: "ios", start: "a") {
            for name in ["a", "b", "c", "d", "e"] { Flow.Screen(name, sends: ["command.From\(name.uppercased())"]) }
            Flow.Transition(on: "event.Go", do: actions)
            Flow.Transition(on: "event.Next", do: next.isEmpty ? [.dismissAll] : next)
            // The checker requires that some rule declares these tabs and this column.
            Flow.Transition(on: "event.Never", do: [Self.tabs, Self.columns, .show("b", column: "detail")])
        }
        var session = Session(flow)
        #expect(session.send("event.Go").failureCodes.isEmpty)
        return session
    }

    @Test("Each tab begins with its own screen, and the first tab is selected and in front")
    func tabsBegin() throws {
        let session = try session(Self.tabs)
        #expect(
            session.state.root.container
                == .tabs(
                    [
                        .init("b", ScreenStack(ScreenInstance(screen: "b", id: "b-3"))),
                        .init("search", ScreenStack(ScreenInstance(screen: "c", id: "c-4", arguments: ["q": 1]))),
                    ], selected: "b"))
        #expect(session.state.top.id == "b-3")
        #expect(session.machine.snapshot.commands == ["command.FromA", "command.FromB"])
    }

    @Test("Each tab has its own path, and push changes that of the selected one")
    func tabPaths() throws {
        var session = try session(Self.tabs, .push("d"), .selectTab("search"), .push("e"), next: .popToRoot)
        #expect(session.paths == ["b": ["d"], "search": ["e"]])
        #expect(session.path.isEmpty)
        #expect(session.state.frontPath.map(\.screen) == ["e"])
        session.report("TabSelected", "a-2", ["tab": "b"])
        #expect(session.state.top.screen == "d")
        #expect(session.send("event.Next").dismissals == ["d-5"])
        #expect(session.paths == ["b": [], "search": ["e"]])
    }

    @Test("Tabs that are selected fast, repeatedly and late keep correct paths")
    func tabsSelectedFast() throws {
        var session = try session(Self.tabs, .push("d"))
        for tab: JSONValue in ["search", "b", "search", "search", "b", "b"] {
            session.report("TabSelected", "a-2", ["tab": tab])
        }
        #expect(session.machine.revision == 5)
        #expect(session.paths == ["b": ["d"], "search": []])
        #expect(session.report("TabSelected", "a-2", ["tab": "b"]).isEmpty)
        #expect(!session.report("TabSelected", "a-2", ["tab": "other"]).discards.isEmpty)
        #expect(!session.report("TabSelected", "a-1", ["tab": "search"]).discards.isEmpty)
        #expect(session.state.root.container?.selectedTab == "b")
    }

    @Test("A swipe back that ends after a change of tabs pops in its own tab, and keeps the sheet of the other")
    func backInAnotherTab() throws {
        var session = try session(Self.tabs, .push("d"), .push("e"), next: .present("c", as: .sheet))
        session.report("BackStarted", "e-6")
        session.report("TabSelected", "a-2", ["tab": "search"])
        session.send("event.Next")
        #expect(session.report("BackCompleted", "e-6").dismissals == ["e-6"])
        #expect(session.paths == ["b": ["d"], "search": []])
        #expect(session.presented == ["c"])
    }

    @Test("A sheet over a tab closes with the screen that presented it")
    func backUnderSheet() throws {
        var session = try session(Self.tabs, .push("d"), .present("e", as: .sheet))
        #expect(session.report("BackCompleted", "d-5").dismissals == ["e-6", "d-5"])
        #expect(session.presented.isEmpty)
    }

    @Test("A new root dismisses every tab with its path, the topmost screen first")
    func tabsDismissed() throws {
        var session = try session(Self.tabs, .push("d"), .selectTab("search"), next: .setRoot("e"))
        #expect(session.send("event.Next").dismissals == ["c-4", "d-5", "b-3", "a-2"])
    }

    @Test("A column holds a stack, which is replaced as a whole")
    func columnPath() throws {
        var session = try session(
            Self.columns, .show("b", column: "detail"), .push("c", column: "detail"), .push("d"),
            next: .show("e", column: "detail"))
        #expect(session.path == ["d"])
        #expect(session.paths == ["detail": ["c"]])
        #expect(session.machine.snapshot.commands == ["command.FromC", "command.FromD"])
        #expect(session.send("event.Next").dismissals == ["c-4", "b-3"])
        #expect(session.paths == ["detail": []])
    }

    @Test("A swipe back in a column pops only there")
    func backInColumn() throws {
        var session = try session(
            Self.columns, .show("b", column: "detail"), .push("c", column: "detail"), .push("d"))
        #expect(session.report("BackCompleted", "c-4").dismissals == ["c-4"])
        #expect(session.paths == ["detail": []])
        #expect(session.path == ["d"])
        #expect(session.report("BackCompleted", "b-3").discards.count == 1)
    }

    @Test("A pop by number or by screen works in a column too")
    func popExtents() throws {
        let cases: [(Flow.Action, [String])] = [
            (.pop, ["b", "c", "b"]), (.pop(3), ["b"]), (.pop(4), []), (.pop("b"), ["b", "c", "b"]),
            (.pop("c"), ["b", "c"]), (.pop("a"), []),
        ]
        for (action, left) in cases {
            var session = try session(.replacePath(["b", "c", "b", "d"]), next: action)
            session.send("event.Next")
            #expect(session.path == left)
        }
        var session = try session(
            Self.columns, .show("b", column: "detail"), .push("c", column: "detail"), .push("d", column: "detail"),
            next: .pop("b", column: "detail"))
        #expect(session.send("event.Next").dismissals == ["d-5", "c-4"])
        #expect(session.send("event.Next").isEmpty)
    }

    @Test(
        "An action on a tab or column that does not exist fails",
        arguments: [
            (Flow.Action.pop(2), "navigation.nothingToPop"), (.pop("e"), "navigation.notOnPath"),
            (.selectTab("b"), "navigation.noTab"), (.push("b", column: "detail"), "navigation.notSplit"),
        ])
    func impossible(action: Flow.Action, code: String) throws {
        var session = try session(.push("b"), next: action)
        let before = session.machine
        #expect(session.send("event.Next").failureCodes == [code])
        #expect(session.machine == before)
    }

    @Test("A push in an empty column fails")
    func emptyColumn() throws {
        var session = try session(Self.columns, next: .push("b", column: "detail"))
        #expect(session.send("event.Next").failureCodes == ["navigation.emptyColumn"])
    }

    @Test("The condition 'path' tests the path of the selected tab")
    func conditionOnPath() throws {
        let flow = try Flow("tabs", version: 1, platform: "ios", start: "a") {
            for name in ["a", "b", "c"] { Flow.Screen(name) }
            Flow.Transition(on: "event.Go", do: [.setRoot("a", container: .tabs(["b", "c"])), .push("b")])
            Flow.Transition(on: "event.Next", when: [.path("b")], do: [.selectTab("c")])
            Flow.Transition(on: "event.Next", when: [.path()], do: [.push("c")])
        }
        var session = Session(flow)
        for type in ["event.Go", "event.Next", "event.Next", "event.Next"] { session.send(type) }
        #expect(session.paths == ["b": ["b"], "c": ["c"]])
    }

    @Test("A screen that the flow no longer has is removed from its tab or column")
    func salvaged() throws {
        func without(_ name: String) throws -> Flow {
            try Flow("letters", version: 2, platform: "ios", start: "a") {
                for letter in ["a", "b", "c", "d", "e"] where letter != name { Flow.Screen(letter) }
            }
        }
        let session = try session(Self.tabs, .push("d"), .push("e"), .selectTab("search"), .present("d", as: .sheet))
        let cut = Restoration(session.machine.snapshot, flow: try without("e"))
        #expect(cut.dropped.map(\.id) == ["e-6"])
        #expect(cut.machine.state.presentations.count == 1)
        let unselected = Restoration(session.machine.snapshot, flow: try without("c"))
        #expect(unselected.dropped.map(\.id) == ["c-4", "d-7"])
        #expect(unselected.machine.state.root.container?.selectedTab == "b")
        let bare = Restoration(
            try self.session(.setRoot("a", container: .tabs(["b"]))).machine.snapshot, flow: try without("b"))
        #expect(bare.machine.state.open.map(\.id) == ["a-4"])
        let column = try self.session(
            Self.columns, .show("b", column: "detail"), .push("c", column: "detail"), .push("d", column: "detail"))
        #expect(
            Restoration(column.machine.snapshot, flow: try without("c")).machine.state.root.container?.stacks
                .flatMap(\.instances).map(\.screen) == ["b"])
    }
}

extension Session {
    /// The screens on the paths of tabs and columns, by name.
    fileprivate var paths: [String: [String]] {
        switch state.root.container {
        case .split(let columns): columns.mapValues { $0.path.map(\.screen) }
        case .tabs(let tabs, _):
            Dictionary(tabs.map { ($0.name, $0.stack.path.map(\.screen)) }) { first, _ in first }
        case nil: [:]
        }
    }
}
