import Navigation
import SampleFlows
import Support
import Testing

@Suite("Redirects of deep links")
struct LinkRedirectTests {
    private func session(_ links: Flow.Link...) throws -> Session {
        let flow = try Flow("shop", version: 1, platform: "ios", start: "list") {
            for name in ["list", "item", "launch", "lost"] { Flow.Screen(name) }
            Flow.Transition(on: "event.Locked", do: [.setRoot("launch")])
            Flow.Transition(on: "event.Unlocked", do: [.setRoot("list")])
            for link in links { link }
            Flow.Link(
                "shop://item/{id}?colour={colour}&n={n:integer}", when: [.root("list")],
                to: .init(
                    root: "list",
                    path: [.screen("item", ["id": "${url.id}", "colour": "${url.colour}", "n": "${url.n}"])]))
            Flow.Link("shop://docs/{path...}", to: .init(root: .init(.screen("lost", ["path": "${url.path}"]))))
        }
        return Session(flow)
    }

    private static let old = Flow.Link(
        "https://shop.example/i/{id}?c={c}&n={n}", redirect: "shop://item/${url.id}?colour=${url.c}&n=${url.n:-1}")

    @Test(
        "The values are encoded, and a parameter without a value is left out",
        arguments: [
            ("https://shop.example/i/7", "shop://item/7?n=1"),
            ("https://shop.example/i/7?c=red&n=5", "shop://item/7?colour=red&n=5"),
            (
                "https://shop.example/i/a%2F..%3Fcolour=x?c=%26n=9",
                "shop://item/a%2F..%3Fcolour%3Dx?colour=%26n%3D9&n=1"
            ),
            ("https://shop.example/i/%24%7Burl.c%7D", "shop://item/%24%7Burl.c%7D?n=1"),
        ])
    func followed(url: String, target: String) throws {
        var session = try session(Self.old)
        #expect(session.open(url).discards == [])
        #expect(session.machine.snapshot.url == target)
        #expect(session.state.parked == nil)
        #expect(session.open(url).isEmpty)
    }

    @Test("A link to which a redirect leads is parked with its own URL")
    func parked() throws {
        var session = try session(Self.old)
        session.send("event.Locked")
        session.open("https://shop.example/i/7")
        #expect(session.state.parked?.url == "shop://item/7?n=1")
        session.send("event.Unlocked")
        #expect(session.machine.snapshot.url == "shop://item/7?n=1")
    }

    @Test("A redirect whose conditions do not hold does not apply")
    func conditional() throws {
        var session = try session(
            Flow.Link("shop://docs/new", when: [.root("launch")], redirect: "shop://item/new"),
            Flow.Link("shop://only", when: [.root("launch")], redirect: "shop://item/only"))
        session.open("shop://docs/new")
        #expect(session.machine.snapshot.url == "shop://docs/new")
        #expect(
            session.open("shop://only").discards == [
                "event.DeepLinkReceived: the link cannot be followed now: its conditions do not hold"
            ])
        session.send("event.Locked")
        session.open("shop://docs/new")
        #expect(session.state.parked?.url == "shop://item/new")
    }

    @Test("A rest keeps its slashes, and cannot leave the path of the redirect")
    func rest() throws {
        var session = try session(Flow.Link("shop://old/{path...}", redirect: "shop://docs/v2/${url.path}"))
        session.open("shop://old/a/%3Fb")
        #expect(session.machine.snapshot.url == "shop://docs/v2/a/%3Fb")
        for url in ["shop://old/a%2F..%2F..%2Fx", "shop://old/%2E%2E%2F.."] {
            #expect(session.open(url).discards.count == 1)
        }
    }

    @Test("A value cannot leave the path of the redirect", arguments: ["..", ".", "%2E%2E"])
    func dots(value: String) throws {
        var session = try session(Flow.Link("shop://go?to={to}", redirect: "shop://docs/v2/${url.to}/x"))
        #expect(session.open("shop://go?to=\(value)").discards.first?.contains("'.' or '..'") == true)
        session.open("shop://go?to=...")
        #expect(session.machine.snapshot.url == "shop://docs/v2/.../x")
        session.open("shop://go")
        #expect(session.machine.snapshot.url == "shop://docs/v2/x")
    }

    @Test("Redirects in a circle, and a redirect to an unknown URL, are discarded with a reason")
    func endless() throws {
        var session = try session(
            Flow.Link("shop://a/{x}", redirect: "shop://b/${url.x}x"),
            Flow.Link("shop://b/{x}", redirect: "shop://a/${url.x}"),
            Flow.Link("shop://go/{where}/{x}", redirect: "shop://${url.where}/${url.x}"),
            Flow.Link("shop://grow/{x}", redirect: "shop://grow/${url.x}\(String(repeating: "x", count: 2000))"))
        let before = session.machine
        #expect(
            session.open("shop://a/1").discards == ["event.DeepLinkReceived: more than 8 redirects follow each other"])
        #expect(session.open("shop://grow/1").discards.count == 1)
        #expect(
            session.open("shop://go/itm/1").discards.first?.contains("no link matches the URL 'shop://itm/1'") == true)
        #expect(session.machine == before)
        session.open("shop://go/item/1")
        #expect(session.machine.snapshot.url == "shop://item/1")
    }

    @Test("At most eight redirects follow each other")
    func limit() throws {
        for count in [8, 9] {
            let flow = try Flow("long", version: 1, platform: "ios", start: "a") {
                Flow.Screen("a")
                Flow.Screen("b")
                for number in 1...count { Flow.Link("x:\(number)", redirect: "x:\(number - 1)") }
                Flow.Link("x:0", to: .init(root: "b"))
            }
            var session = Session(flow)
            session.open("x:\(count)")
            #expect((session.machine.snapshot.url == "x:0") == (count == 8))
        }
    }
}
