import FlowFiles
import Foundation
import Navigation
import Support
import Testing
import ThreeScreens

/// Tests of the flow and of the tree of states, without a bus.
@Suite("Three screens")
struct ThreeScreensFlowTests {
    private static func built() throws -> Flow {
        let home = Flow.Action.setRoot(
            "home", container: .tabs([.tab("left", "first"), .tab("right", "first")]))
        let commands = ["FirstRequested", "SecondRequested", "SecondClosed", "ThirdRequested", "StartedOver"]
        return try Flow(
            "three-screens", version: 1, platform: "three-screens", start: "launch",
            commands: Dictionary(uniqueKeysWithValues: commands.map { ("command.\($0)", [:]) })
        ) {
            Flow.Screen("launch")
            Flow.Screen("home", title: "Three screens", sends: ["command.StartedOver"])
            Flow.Screen("first", title: "The first", sends: ["command.SecondRequested"])
            Flow.Screen(
                "second", title: "The second",
                sends: ["command.TimerRequested", "command.ThirdRequested", "command.SecondClosed"])
            Flow.Screen("third", title: "The third", sends: ["command.FirstRequested"])
            Flow.Transition(on: "event.LaunchFinished", when: [.root("launch")], origin: .own, do: [home])
            Flow.Transition(on: "command.SecondRequested", when: [.top("first")], do: [.push("second")])
            Flow.Transition(on: "command.ThirdRequested", when: [.top("second")], do: [.push("third")])
            Flow.Transition(on: "command.FirstRequested", when: [.top("third")], do: [.popToRoot])
            Flow.Transition(on: "command.SecondClosed", when: [.top("second")], do: [.pop])
            Flow.Transition(on: "command.StartedOver", when: [.root("home")], do: [home])
        }
    }

    @Test("The file equals the flow in Swift")
    func same() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../config/flows/examples/three-screens.yaml").standardizedFileURL.path
        #expect(try Flow(yaml: String(contentsOfFile: file, encoding: .utf8), file: file) == Self.built())
    }

    /// A machine of the flow, and the tree of its states.
    private struct App {
        var machine: Machine
        var screens = ThreeScreens()
        private var sent = 0

        init() throws {
            machine = Machine(flow: try ThreeScreensFlowTests.built())
        }

        var left: FirstState? { screens.tabs["left"] }
        var right: FirstState? { screens.tabs["right"] }

        /// - Returns: The effects of the message.
        @discardableResult
        mutating func send(_ name: String, _ data: JSONValue = [:]) -> [Machine.Effect] {
            sent += 1
            let effects = machine.handle(Machine.Input(id: "m\(sent)", type: name, data: data))
            screens.follow(machine.state)
            return effects
        }

        @discardableResult
        mutating func report(_ name: String, _ instance: String?) -> [Machine.Effect] {
            send("command.\(name)", ["instance": .string(instance ?? "")])
        }

        /// The app with the second screen in the left tab. The timer of this screen has 3 ticks.
        /// - Parameter third: True to open the third screen as well.
        static func onSecond(third: Bool = false) throws -> App {
            var app = try App()
            app.send("event.LaunchFinished")
            app.report("ScreenGone", "launch-1")
            app.send("command.SecondRequested")
            app.screens.follow((instance: app.left?.second?.instance ?? "", ticks: 3))
            if third { app.send("command.ThirdRequested") }
            return app
        }
    }

    @Test("Each screen's state is optional in its parent's")
    func tree() throws {
        var app = try App()
        #expect(app.screens == ThreeScreens())
        app.send("event.LaunchFinished")
        #expect(app.left?.second == nil)
        app.send("command.SecondRequested")
        #expect(app.left?.second?.instance == app.machine.state.top.id)
        #expect(app.right?.second == nil)
        app.send("command.ThirdRequested")
        #expect(app.left?.second?.third?.instance == app.machine.state.top.id)
        #expect(app.machine.revision == 3)
    }

    @Test("A pop from the third screen to the first is one step, and the content stays until the view reports it gone")
    func backToFirst() throws {
        var app = try App.onSecond(third: true)
        let (second, third) = (app.left?.second?.instance ?? "", app.left?.second?.third?.instance ?? "")
        let revision = app.machine.revision
        let effects = app.send("command.FirstRequested")
        #expect(
            effects == [
                .screenDismissed(instance: third, screen: "third"), .expectScreenGone(instance: third),
                .screenDismissed(instance: second, screen: "second"), .expectScreenGone(instance: second),
            ])
        #expect(app.machine.revision == revision + 1)
        #expect(app.left?.second?.ticks == 3)
        #expect(app.left?.second?.third?.instance == third)
        #expect(app.report("ScreenGone", third).isEmpty)
        #expect(app.left?.second != nil && app.left?.second?.third == nil)
        #expect(app.report("ScreenGone", second).isEmpty)
        #expect(app.left?.second == nil)
    }

    @Test("A dismissal by the user and one by the program lead to the same state")
    func dismissals() throws {
        var byUser = try App.onSecond()
        let second = byUser.left?.second?.instance ?? ""
        #expect(byUser.report("BackCompleted", second) == [.screenDismissed(instance: second, screen: "second")])

        var byProgram = try App.onSecond()
        #expect(
            byProgram.send("command.SecondClosed") == [
                .screenDismissed(instance: second, screen: "second"), .expectScreenGone(instance: second),
            ])
        #expect(byProgram.left?.second?.ticks == 3, "the view animates it out")
        #expect(byProgram.report("ScreenGone", second).isEmpty)
        #expect(byProgram.screens == byUser.screens)
        #expect(byProgram.left?.second == nil)
    }

    @Test("A new root closes all screens, and a leaving one stays until it is gone")
    func anotherRoot() throws {
        var app = try App.onSecond()
        let (first, second) = (app.left?.instance ?? "", app.left?.second?.instance ?? "")
        let dismissed = app.send("command.StartedOver").compactMap { effect in
            if case .screenDismissed(let instance, _) = effect { instance } else { nil }
        }
        #expect(dismissed.contains(second) && dismissed.contains(first) && dismissed.count == 4)
        #expect(app.left?.second == nil && app.left?.instance != first)
        #expect(app.screens.leaving.first { $0.instance == first }?.second?.ticks == 3)
        for instance in dismissed { #expect(app.report("ScreenGone", instance).isEmpty) }
        #expect(app.screens.leaving.isEmpty)
    }

    @Test("A screen that is shown again while the former one leaves is a new instance")
    func again() throws {
        var app = try App.onSecond()
        let former = app.left?.second?.instance ?? ""
        app.send("command.SecondClosed")
        #expect(app.send("command.SecondRequested").isEmpty)
        #expect(app.left?.second?.instance != former)
        #expect(app.left?.second?.ticks == nil)
    }

    @Test("The other tab has its own second screen")
    func siblings() throws {
        var app = try App.onSecond()
        let left = app.left
        app.send("command.TabSelected", ["instance": "home-2", "tab": "right"])
        app.send("command.SecondRequested")
        #expect(app.left == left)
        app.screens.follow((instance: app.right?.second?.instance ?? "", ticks: 7))
        #expect(app.report("BackCompleted", app.left?.second?.instance).count == 1)
        #expect(app.left?.second == nil)
        #expect(app.right?.second?.ticks == 7)
    }

    @Test("Events of another platform's device are ignored, and a repeated report changes nothing")
    func ignored() throws {
        var app = try App()
        let launch = Machine.Input(
            id: "x", type: "event.LaunchFinished", attributes: Machine.Attributes(platform: "onboarding"))
        #expect(app.machine.handle(launch).isEmpty)
        #expect(app.machine.revision == 0)
        app = try App.onSecond()
        let second = app.left?.second?.instance
        app.report("BackCompleted", second)
        let before = app
        #expect(app.report("BackCompleted", second).isEmpty)
        #expect(app.screens == before.screens && app.machine.state == before.machine.state)
    }
}
