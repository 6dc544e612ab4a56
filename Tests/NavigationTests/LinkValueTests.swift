import Foundation
import Navigation
import SampleFlows
import Support
import Testing

@Suite("Values of deep links")
struct LinkValueTests {
    /// A session of a tea timer.
    private func session(_ links: Flow.Link...) throws -> Session {
        let flow = try Flow(
            "tea", version: 1, platform: "ios", start: "menu",
            commands: [
                "command.Begin": [
                    "minutes": .init(.range(.integer, atLeast: 1)), "note": .init(.string, isRequired: false),
                ]
            ]
        ) {
            Flow.Screen("menu")
            Flow.Screen(
                "brewing",
                arguments: [
                    "minutes": .init(.range(.integer, atLeast: 1, atMost: 60)),
                    "strong": .init(.boolean, isRequired: false),
                    "kind": .init(.enumeration(["green", "black"]), isRequired: false),
                ])
            Flow.Screen("plain")
            Flow.Transition(on: "event.Go", do: [.push(.screen("brewing", ["minutes": "${data.minutes}"]))])
            Flow.Transition(on: "event.Show", do: [.push(.screen("plain", ["a": "${data.a}"]))])
            for link in links { link }
        }
        return Session(flow)
    }

    private static let brewing = Flow.Link(
        "tea://brew/{m:integer}?strong={s:boolean}&kind={k}",
        to: .init(
            root: "menu",
            path: [.screen("brewing", ["minutes": "${url.m}", "strong": "${url.s}", "kind": "${url.k}"])]))

    @Test("The values of a URL have the types of their placeholders, in arguments and in commands")
    func typed() throws {
        var session = try session(
            Flow.Link(
                "tea://brew/{m:integer}?strong={s:boolean}",
                to: .init(root: "menu", path: [.screen("brewing", ["minutes": "${url.m}", "strong": "${url.s}"])]),
                send: [.init("command.Begin", ["minutes": "${url.m}", "note": "$${url.m}"])]))
        let effects = session.open("tea://brew/5?strong=true")
        #expect(session.state.top.arguments == ["minutes": 5, "strong": true])
        #expect(session.state.top.arguments["minutes"]?.integerValue == 5)
        #expect(effects == [.send(type: "command.Begin", data: ["minutes": 5, "note": "${url.m}"])])
        #expect(session.machine.snapshot.url == "tea://brew/5?strong=true")
        #expect(session.open("tea://brew/5?strong=true").isEmpty)
        session.open("tea://brew/6")
        #expect(session.state.top.arguments == ["minutes": 6])
    }

    @Test(
        "A URL with a value that a screen does not allow is discarded, and says why",
        arguments: [
            ("tea://brew/0", "minutes: expected a whole number from 1 to 60, found 0"),
            ("tea://brew/61", "minutes: expected a whole number from 1 to 60, found 61"),
            ("tea://brew/5?kind=gren", "kind: expected one of \"green\", \"black\", found \"gren\"; did you mean"),
            ("tea://brew/05", "did you mean 'tea://brew/{m:integer}"),
            ("tea://brew/5?strong=1", "known: tea://brew/{m:integer}?strong={s:boolean}"),
        ])
    func refused(url: String, reason: String) throws {
        var session = try session(Self.brewing)
        let before = session.machine
        let discards = session.open(url).discards
        #expect(discards.count == 1 && discards[0].contains(reason), "\(discards)")
        #expect(session.machine == before)
    }

    @Test("A URL that a link does not match is left to the next link")
    func next() throws {
        var session = try session(
            Self.brewing, Flow.Link("tea://brew/{x}", to: .init(root: .init(.screen("plain", ["x": "${url.x}"])))))
        session.open("tea://brew/90")
        #expect(session.root == "plain" && session.state.top.arguments == ["x": "90"])
        #expect(session.machine.snapshot.url == "tea://brew/90")
    }

    @Test(
        "A state with a value that the link does not match has no URL",
        arguments: [5, 90, "5", "x", 5.5] as [JSONValue])
    func stateWithoutURL(minutes: JSONValue) throws {
        var session = try session(Self.brewing)
        session.send("event.Go", ["minutes": minutes])
        #expect(session.machine.snapshot.url == (minutes == 5 || minutes == "5" ? "tea://brew/5" : nil))
        let there = session.machine
        session.open("tea://brew/5")
        if there.snapshot.url != nil { #expect(session.machine.state == there.state) }
        #expect(session.machine.snapshot.url == "tea://brew/5")
    }

    @Test("A stored argument without a type is the same as a typed value")
    func stored() throws {
        var session = try session(Self.brewing)
        session.open("tea://brew/5?strong=true")
        let snapshot = try JSONValue(encoding: session.machine.snapshot)
        let text = snapshot.description.replacing("\"minutes\":5", with: "\"minutes\":\"5\"")
        #expect(text != snapshot.description)
        var machine = Restoration(
            try JSONDecoder().decode(NavigationSnapshot.self, from: Data(text.utf8)), flow: session.machine.flow
        ).machine
        #expect(machine.snapshot.url == "tea://brew/5?strong=true")
        let state = machine.state
        _ = machine.handle(
            Machine.Input(id: "m9", type: "event.DeepLinkReceived", data: ["url": "tea://brew/5?strong=true"]))
        #expect(machine.state == state)
    }

    @Test("A default is used for a value that is absent or empty, and has its type")
    func defaults() throws {
        var session = try session(
            Flow.Link(
                "tea://list/{page?:integer}?q={q}",
                to: .init(root: .init(.screen("plain", ["page": "${url.page:-1}", "q": "${url.q:-all}"]))),
                send: [.init("command.Load", ["page": "${url.page:-1}", "q": "${url.q}"])]))
        #expect(session.open("tea://list?q=").first == .send(type: "command.Load", data: ["page": 1, "q": ""]))
        #expect(session.state.top.arguments == ["page": 1, "q": "all"])
        #expect(session.machine.snapshot.url == "tea://list")
        let there = session.machine
        #expect(session.open("tea://list/1?q=all").isEmpty)
        #expect(session.machine == there)
        session.open("tea://list/2?q=x")
        #expect(session.state.top.arguments == ["page": 2, "q": "x"])
        #expect(session.machine.snapshot.url == "tea://list/2?q=x")
    }

    @Test("A constant may contain the beginning of a template")
    func literal() throws {
        var session = try session(
            Flow.Link("tea://a", to: .init(root: .init(.screen("plain", ["a": "$${x}", "b": ["$${y}"]])))))
        session.open("tea://a")
        #expect(session.state.top.arguments == ["a": "${x}", "b": ["${y}"]])
        #expect(session.machine.snapshot.url == "tea://a")
        #expect(session.open("tea://a").isEmpty)
    }

    @Test("The rest of a path is for URLs that no other link matches, even if their links must wait")
    func notFound() throws {
        var session = try session(
            Flow.Link(
                "tea://brew/{x}", when: [.root("plain")],
                to: .init(root: "plain", path: [.screen("menu", ["x": "${url.x}"])])),
            Flow.Link(
                "tea://{path...}", when: [.root("menu")],
                to: .init(root: "menu", path: [.screen("plain", ["a": "${url.path}"])])),
            Flow.Link("tea://{path...}", to: .init(root: .init(.screen("plain", ["path": "${url.path}"])))))
        session.open("tea://brew/5")
        #expect(session.state.parked?.url == "tea://brew/5")
        session.open("tea://nowhere/5/x%20y")
        #expect(session.state.top.arguments == ["a": "nowhere/5/x y"])
        #expect(session.machine.snapshot.url == "tea://nowhere/5/x%20y")
        #expect(session.state.parked == nil)
        #expect(session.open("tea://nowhere/5/x%20y").isEmpty)
        session.send("event.Show", ["a": "brew/5"])
        session.report("BackCompleted", session.state.path[0].id)
        session.send("event.Show", ["a": "brew/5"])
        // The first link would be followed for this URL.
        #expect(session.machine.snapshot.url == nil)
    }

    @Test("A screen with another value in an optional segment is a new instance")
    func optionalSegment() throws {
        var session = try session(
            Flow.Link("tea://list/{n?:integer}", to: .init(root: "menu", path: [.screen("plain", ["n": "${url.n}"])])))
        session.open("tea://list")
        #expect(session.state.top == ScreenInstance(screen: "plain", id: "plain-2"))
        #expect(session.machine.snapshot.url == "tea://list")
        #expect(session.open("tea://list/2").dismissals == ["plain-2"])
        #expect(session.machine.snapshot.url == "tea://list/2")
        #expect(session.open("tea://list/").dismissals == ["plain-3"])
    }
}
