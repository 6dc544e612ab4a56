import FlowFiles
import Navigation
import SampleFlows
import Support
import Testing

@Suite("Requests of views")
struct RequestTests {
    private static let names: [Flow.ActionName] = [
        .push, .pop, .popToRoot, .present, .dismiss, .setRoot, .selectTab, .show,
    ]

    private func session(_ requests: [Flow.ActionName] = Self.names) throws -> Session {
        let flow = try Flow("router", version: 1, platform: "ios", start: "list", requests: requests) {
            Flow.Screen("list", sends: ["command.NavigationRequested"])
            Flow.Screen("item")
            Flow.Screen("rating")
        }
        #expect(try Flow(yaml: flow.json.description, file: "written.json") == flow)
        return Session(flow)
    }

    @Test("A view requests pushes, pops and presentations in the notation of flow files")
    func requests() throws {
        var session = try session()
        session.request(["push": ["screen": "item", "arguments": ["id": 5, "name": "x"]]])
        session.request(["push": "rating"])
        #expect(session.path == ["item", "rating"])
        #expect(session.state.path[0].arguments == ["id": 5, "name": "x"])
        #expect(session.request(["pop": 2]).dismissals == ["rating-3", "item-2"])
        session.request(["present": ["screen": "rating", "style": "sheet", "detents": ["medium"]]])
        #expect(session.state.presentations.first?.options.detents == [.medium])
        session.request("dismiss")
        #expect(session.presented.isEmpty)
        session.request(["setRoot": ["screen": "list", "container": ["tabs": ["list", "item"]]]])
        session.request(["selectTab": "item"])
        #expect(session.state.top.screen == "item")
    }

    @Test("A requested pop and a swipe back lead to the same state")
    func popAsSwipe() throws {
        var requested = try session()
        requested.request(["push": "item"])
        var swiped = requested
        #expect(requested.request("pop").dismissals == ["item-2"])
        requested.report("ScreenGone", "item-2")
        #expect(swiped.report("BackCompleted", "item-2").dismissals == ["item-2"])
        #expect(requested.state == swiped.state)
        // A report after the request changes nothing, and neither does a request after the report.
        #expect(requested.report("BackCompleted", "item-2").discards.count == 1)
        #expect(swiped.request("pop", instance: "item-2").discards.count == 1)
    }

    @Test(
        "A request that cannot be applied is discarded with a reason, and changes nothing",
        arguments: [
            ("pop", "there is nothing to pop on the path"),
            (["pop": 3], "there is nothing to pop on the path"),
            ("popToRoot", "the requested action changes nothing"),
            (["pop": -1], "'pop' removes at least one screen; write 1 or a greater number"),
            (["pop": "item"], "screen 'item' is not on the front path or on a path beneath it"),
            ("dismiss", "nothing is presented"),
            (["selectTab": "home"], "the root has no tab 'home'"),
            (["show": ["screen": "item", "column": "detail"]], "there is no column 'detail': the root is not split"),
            ("replacePath", "action 'replacePath' needs a value; write 'replacePath: …'"),
            (
                ["openURL": "https://example.org"],
                "the flow does not let views request 'openURL': "
                    + "it allows setRoot, push, pop, popToRoot, present, dismiss, selectTab, show"
            ),
            (["push": "itme"], "unknown screen 'itme'; did you mean 'item'?"),
            (["push": ["scren": "item"]], "unknown key 'scren' in 'push'; did you mean 'screen'?; and 'push' lacks"),
            (["puhs": "item"], "unknown action 'puhs'; did you mean 'push'?"),
            (["push": "item", "pop": 1], "an action must be a name, or one name with a value, such as 'push: SCREEN'"),
            (["present": ["screen": "item", "style": "window"]], "platform 'ios' has no style 'window'"),
            (7, "unknown action '7'"), (.null, "unknown action 'null'"), ([], "an action must be a name"),
        ] as [(JSONValue, String)])
    func refused(action: JSONValue, reason: String) throws {
        var session = try session()
        let before = session.machine
        let effects = session.request(action)
        #expect(effects.count == 1)
        #expect(effects.discards.first?.hasPrefix("command.NavigationRequested: " + reason) == true, "\(effects)")
        #expect(session.machine == before)
    }

    @Test("A flow without allowed requests refuses each of them")
    func none() throws {
        var session = try session([])
        #expect(
            session.request("pop").discards == [
                "command.NavigationRequested: the flow does not let views request 'pop': it allows no requests"
            ])
        #expect(
            session.send("command.NavigationRequested").discards
                == ["command.NavigationRequested: the field 'action' is missing"])
    }

    @Test("A request of a dismissed screen is discarded, and one of another platform is ignored")
    func lateAndForeign() throws {
        var session = try session()
        session.request(["push": "item"])
        session.request("pop", instance: "item-2")
        #expect(session.request(["push": "rating"], instance: "item-2").discards.count == 1)
        #expect(session.send("command.NavigationRequested", ["action": ["push": "item"]], platform: "mac").isEmpty)
        #expect(session.path.isEmpty)
    }

    @Test("A template in a request is plain text")
    func literal() throws {
        var session = try session()
        session.request(["push": ["screen": "item", "arguments": ["text": "${data.action} ${", "n": "5"]]])
        #expect(session.state.path.first?.arguments == ["text": "${data.action} ${", "n": "5"])
    }

    @Test("Dispatched data is shown by the rule for its name")
    func dispatched() throws {
        let flow = try Flow("trains", version: 1, platform: "ios", start: "search") {
            Flow.Screen("search")
            Flow.Screen("route")
            Flow.Transition(
                on: "command.DataDispatched", where: ["name": "RouteModel"],
                do: [.present(.screen("route", ["from": "${data.data.fromStationCode}"]), as: .sheet)])
        }
        var session = Session(flow)
        session.send("command.DataDispatched", ["name": "RouteModel", "data": ["fromStationCode": "YRK"]])
        #expect(session.state.top.arguments == ["from": "YRK"])
        #expect(session.send("command.DataDispatched", ["name": "Other", "data": [:]]).isEmpty)
    }
}

extension Session {
    @discardableResult
    fileprivate mutating func request(_ action: JSONValue, instance: String? = nil) -> [Machine.Effect] {
        send("command.NavigationRequested", ["action": action], platform: "ios", instance: instance)
    }
}
