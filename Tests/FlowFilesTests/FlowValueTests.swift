import FlowFiles
import Navigation
import SampleFlows
import Support
import Testing

@Suite("Flows as values")
struct FlowValueTests {
    @Test("The iOS flow built in Swift equals the one in YAML")
    func iosBuiltEqualsRead() throws {
        let built = try FocusPlayerFlow.ios()
        let read = try ShippedFlows.flow("ios")
        #expect(built == read)
        #expect(built.hash == read.hash)
    }

    @Test("The mac flow built in Swift equals the one in YAML")
    func macBuiltEqualsRead() throws {
        let built = try FocusPlayerFlow.mac()
        let read = try ShippedFlows.flow("mac")
        #expect(built == read)
        #expect(built.hash == read.hash)
    }

    @Test("A flow written as JSON reads back as the same flow", arguments: ["ios", "mac"])
    func jsonReadsBack(platform: String) throws {
        let flow = try ShippedFlows.flow(platform)
        #expect(try Flow(yaml: flow.json.description, file: "written.json") == flow)
    }

    @Test("Every kind of action is written and read back")
    func everyActionReadsBack() throws {
        let flow = try EverythingFlow.flow()
        #expect(try Flow(yaml: flow.json.description, file: "written.json") == flow)
    }

    @Test("The hash is the same in every process, and differs for different flows")
    func hashIsStable() throws {
        func flow(title: String) throws -> Flow {
            try Flow("tiny", version: 1, platform: "ios", start: "a") { Flow.Screen("a", title: title) }
        }
        #expect(try flow(title: "A").hash == "6f3b74299d760fef")
        #expect(try flow(title: "B").hash != flow(title: "A").hash)
    }

    @Test("A rule on one type has the same hash as a list with this type, and the order of types does not matter")
    func severalTypes() throws {
        func flow(_ on: String) throws -> Flow {
            try Flow(
                yaml: "name: t\nversion: 1\nplatform: ios\nstart: a\nscreens: { a: }\n"
                    + "transitions: [{ on: \(on), do: [popToRoot] }]", file: "t.yaml")
        }
        func built(_ rule: Flow.Transition) throws -> Flow {
            try Flow("t", version: 1, platform: "ios", start: "a") {
                Flow.Screen("a")
                rule
            }
        }
        #expect(try flow("event.A") == built(Flow.Transition(on: "event.A", do: [.popToRoot])))
        #expect(try flow("[event.A]").hash == flow("event.A").hash)
        let both = try flow("[event.B, event.A, event.B]")
        #expect(try both == built(Flow.Transition(on: ["event.A", "event.B"], do: [.popToRoot])))
        #expect(try both.hash == flow("[event.A, event.B]").hash)
        #expect(both.json.value(at: "transitions")?.arrayValue?.first?.value(at: "on") == ["event.A", "event.B"])
        #expect(both.messageTypes.isSuperset(of: ["event.A", "event.B"]))
        #expect(try Flow(yaml: both.yaml, file: "written.yaml") == both)
    }

    @Test("Parts of a flow can be conditional and repeated")
    func builderControlFlow() throws {
        func flow(withSettings: Bool) throws -> Flow {
            try Flow("parts", version: 1, platform: "ios", start: "page1") {
                for number in 1...2 { Flow.Screen("page\(number)") }
                if withSettings { Flow.Screen("settings") }
                if withSettings { Flow.Screen("about") } else { Flow.Screen("none") }
            }
        }
        #expect(try Set(flow(withSettings: true).screens.keys) == ["page1", "page2", "settings", "about"])
        #expect(try Set(flow(withSettings: false).screens.keys) == ["page1", "page2", "none"])
    }

    @Test("A host can ask a flow for the messages that the machine must receive")
    func messageTypes() throws {
        let types = try ShippedFlows.flow("ios").messageTypes
        #expect(types.isSuperset(of: ["event.LaunchFinished", "command.PlaylistSelected", "command.ScreenGone"]))
        #expect(!types.contains("event.PlaylistsLoaded"))
    }
}

/// A flow with every kind of action, in several forms.
enum EverythingFlow {
    static func flow() throws -> Flow {
        let buttons = [
            AlertButton(id: "1", title: "One", role: .destructive, sends: "command.A"),
            AlertButton(id: "2", title: "Two", role: .cancel), AlertButton(id: "3", title: "Three"),
        ]
        return try Flow("all", version: 2, platform: "ios", start: "a") {
            Flow.Screen("a", title: "yes")
            Flow.Screen("b")
            Flow.Child(
                "child", start: "b",
                transitions: [
                    Flow.Transition(on: "event.A", do: [.finish(result: ["n": 1])]),
                    Flow.Transition(on: "event.B", do: [.finish()]), Flow.Transition(on: "event.C", do: [.abandon]),
                ])
            Flow.Transition(
                on: "event.Everything",
                where: ["n": 1, "flag": true, "word": ["true", "1"]],
                when: [.shown("a"), .path()],
                unless: [.top("b"), .presented("b"), .sender("b")],
                origin: .own,
                do: [
                    .setRoot("a", container: .tabs(["a", .tab("y", .screen("b", ["id": 1]))])),
                    .setRoot("a", container: .split), .selectTab("y"), .push("b", column: "detail"),
                    .pop(2), .pop("a"), .pop(2, column: "detail"), .pop("a", column: "detail"),
                    .pop(1, column: "detail"),
                    .push(.screen("b", ["id": "${data.id}", "n": 3])), .pop, .popToRoot, .replacePath(["a", "b"]),
                    .present("b", as: .fullScreen),
                    .present("b", as: .sheet, options: PresentationOptions(interactiveDismissal: false)),
                    .present("b", as: .dialog, options: PresentationOptions(buttons: buttons)), .dismiss("b"),
                    .dismiss(nil), .dismissAll,
                    .show("b", column: "detail"), .openURL("https://example.org"), .send(type: "command.A"),
                    .pushFlow("child"), .pushFlow("child", arguments: ["n": 1], column: "detail"),
                    .push("b", on: .sender), .pushFlow("child", on: .sender), .pop("sender"), .dismiss("sender"),
                    .pop(.from("b")), .pop(.from("b"), column: "detail"), .goTo("b"), .goTo(.screen("b", ["id": 1])),
                    .ifPossible(.dismiss(nil)), .ifPossible(.popTo("a")), .ifPossible(.push("b")),
                    .presentFlow("child", as: .sheet, options: PresentationOptions(detents: [.large])),
                    .send(type: "command.B", data: ["list": [1.5, .null]]),
                ]
            )
        }
    }
}
