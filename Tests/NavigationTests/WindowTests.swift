import FlowFiles
import Navigation
import SampleFlows
import Support
import Testing

@Suite("Windows")
struct WindowTests {
    /// A session with an item on the root, `inspector-3` in a window of its own, and rules that open more.
    private func session() throws -> Session {
        let question = PresentationOptions(title: "Sure?", buttons: [AlertButton(id: "yes", title: "Yes")])
        let flow = try Flow("desk", version: 1, platform: "mac", start: "list", requests: [.pop, .dismiss]) {
            for name in ["list", "item", "inspector", "colours", "note"] {
                Flow.Screen(name, sends: ["command.From\(name)"])
            }
            Flow.Transition(on: "event.Begin", do: [.push("item"), .present("inspector", as: .window)])
            Flow.Transition(on: "command.Open", unless: [.path("note")], do: [.push("note")])
            Flow.Transition(on: "command.Open", do: [.pop("note"), .push("colours")])
            Flow.Transition(on: "command.Pop", do: [.pop])
            Flow.Transition(on: "command.Sheet", do: [.present("note", as: .sheet), .push("colours")])
            Flow.Transition(on: "command.Ask", do: [.present("note", as: .alert, options: question)])
            Flow.Transition(on: "command.Window", do: [.present("colours", as: .window), .push("note")])
            Flow.Transition(on: "command.Dismiss", do: [.dismiss(nil)])
            Flow.Transition(on: "command.DismissNote", do: [.dismiss("note")])
            Flow.Transition(on: "command.CloseSender", do: [.dismiss(.sender)])
            Flow.Transition(on: "command.OnTop", when: [.top("item")], do: [.push("note")])
            Flow.Transition(on: "event.CloseAll", do: [.dismissAll])
        }
        var session = Session(flow)
        session.send("event.Begin")
        return session
    }

    @Test("A push changes the window of the screen that sent the command")
    func push() throws {
        var session = try session()
        session.command("Open", from: "item-2")
        #expect(session.path == ["item", "note"])
        session.command("Open", from: "inspector-3")
        #expect(session.windows == ["inspector": ["note"]])
        session.command("Open", from: "note-5")
        #expect(session.windows == ["inspector": ["note", "colours"]])
        session.command("Pop", from: "note-4")
        #expect(session.path == ["item"])
        // Without a sender, the window in front counts.
        session.command("Pop", from: nil)
        #expect(session.windows == ["inspector": ["note"]])
    }

    @Test("A swipe back in the main window keeps the other windows open")
    func back() throws {
        var session = try session()
        #expect(session.report("BackCompleted", "item-2").dismissals == ["item-2"])
        #expect(session.presented == ["inspector"])
        session.command("Sheet", from: "list-1")
        #expect(session.presented == ["note", "inspector"])
        #expect(session.report("PresentationDismissed", "note-4").dismissals == ["colours-5", "note-4"])
        #expect(session.presented == ["inspector"])
    }

    @Test("A sheet lies over the window that presented it, and closes with it")
    func sheets() throws {
        var session = try session()
        session.command("Sheet", from: "inspector-3")
        session.command("Sheet", from: "item-2")
        #expect(session.presented == ["note", "inspector", "note"])
        #expect(session.state.active.map(\.screen) == ["colours", "colours"])
        session.command("Dismiss", from: "item-2")
        #expect(session.presented == ["inspector", "note"])
        #expect(session.machine.snapshot.commands == ["command.Fromcolours", "command.Fromitem"])
        #expect(
            session.report("PresentationDismissed", "inspector-3").dismissals == ["colours-5", "note-4", "inspector-3"])
        #expect(session.presented.isEmpty)
    }

    @Test("A dismissal searches the sender's window first")
    func dismissals() throws {
        var session = try session()
        session.command("Sheet", from: "item-2")
        session.command("Sheet", from: "inspector-3")
        var inMain = session
        inMain.command("DismissNote", from: "item-2")
        #expect(inMain.presented == ["inspector", "note"])
        inMain.command("DismissNote", from: "item-2")
        #expect(inMain.presented == ["inspector"])
        inMain.command("Dismiss", from: "item-2")
        #expect(inMain.presented.isEmpty)
        var sender = session
        sender.command("CloseSender", from: "inspector-3")
        #expect(sender.presented == ["note"])
        #expect(session.send("event.CloseAll").dismissals.count == 5)
    }

    @Test("A question blocks only its window, and a step that opens a window continues in it")
    func questions() throws {
        var session = try session()
        session.command("Ask", from: "inspector-3")
        #expect(session.command("Sheet", from: "inspector-3").failureCodes == ["navigation.awaitsAnswer"])
        #expect(session.command("Window", from: "item-2").failureCodes.isEmpty)
        #expect(session.windows == ["inspector": [], "note": [], "colours": ["note"]])
        session.report("AlertAnswered", "note-4", ["button": "yes"])
        #expect(session.windows == ["inspector": [], "colours": ["note"]])
    }

    @Test("The screen in front is that of the sender's window")
    func top() throws {
        var session = try session()
        session.command("OnTop", from: "inspector-3")
        #expect(session.path == ["item"])
        session.command("OnTop", from: "item-2")
        #expect(session.path == ["item", "note"])
    }

    @Test("A window stays when the flow no longer has a screen of another window")
    func salvaged() throws {
        var session = try session()
        session.command("Sheet", from: "item-2")
        session.command("Sheet", from: "inspector-3")
        func left(without name: String) throws -> [String] {
            let flow = try Flow("desk", version: 2, platform: "mac", start: "list") {
                for screen in ["list", "item", "inspector", "colours", "note"] where screen != name {
                    Flow.Screen(screen)
                }
            }
            return Restoration(session.machine.snapshot, flow: flow).machine.state.presentations
                .map { "\($0.instance.screen) \($0.path.count)" }
        }
        #expect(session.presented == ["note", "inspector", "note"])
        #expect(try left(without: "item") == ["inspector 0", "note 1"])
        #expect(try left(without: "inspector") == ["note 1"])
        #expect(try left(without: "colours") == ["note 0", "inspector 0", "note 0"])
        #expect(try left(without: "note") == ["inspector 0"])
    }

    @Test("A snapshot with windows is restored as it was, and a view can follow each change")
    func stored() throws {
        var session = try session()
        session.command("Sheet", from: "inspector-3")
        let former = session.state
        session.command("Sheet", from: "item-2")
        let snapshot = session.machine.snapshot
        #expect(try JSONValue(encoding: snapshot).decode(NavigationSnapshot.self) == snapshot)
        #expect(Restoration(snapshot, flow: session.machine.flow).machine == session.machine)
        let steps = session.state.steps(from: former)
        #expect(
            steps == [
                .present(
                    Presentation(
                        .sheet, ScreenInstance(screen: "note", id: "note-6"),
                        path: [ScreenInstance(screen: "colours", id: "colours-7")]))
            ])
        var shown = former
        for step in steps { shown.apply(step) }
        #expect(shown.presentations == session.state.presentations)
        #expect(former.steps(from: shown) == [.dismiss(instance: "note-6")])
        session.command("Dismiss", from: "inspector-3")
        #expect(session.state.steps(from: shown) == [.dismiss(instance: "note-4")])
        #expect(
            shown.steps(from: session.state) == [.present(former.presentations[1], window: "inspector-3")])
    }
}

extension Session {
    @discardableResult
    fileprivate mutating func command(_ name: String, from instance: String?) -> [Machine.Effect] {
        send("command.\(name)", platform: "mac", instance: instance)
    }

    /// The paths of the presentations, by their screens.
    fileprivate var windows: [String: [String]] {
        Dictionary(state.presentations.map { ($0.instance.screen, $0.path.map(\.screen)) }) { first, _ in first }
    }
}
