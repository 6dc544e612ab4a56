import FlowFiles
import Navigation
import SampleFlows
import Support
import Testing

@Suite("Findings in a deep link")
struct LinkFindingTests {
    private static let head = """
        name: shop
        version: 1
        platform: ios
        start: list
        screens:
          list: { sends: [command.ItemSelected] }
          item: { sends: [command.ReviewSelected] }
          review:
          settings: { gate: true }
        transitions:
          - { on: command.ItemSelected, do: [{ push: item }] }
          - { on: command.ReviewSelected, do: [{ push: review }] }
          - { on: event.Reset, do: [{ replacePath: [item, review] }] }
        links:

        """

    /// The findings for links. The first link begins on line 15.
    private func findings(_ links: String) -> [String] {
        FlowFinding.refused { () throws(FlowError) in try Flow(yaml: Self.head + links, file: "shop.yaml") }.map(
            \.description)
    }

    @Test("A link without a mistake has no findings, in every notation")
    func valid() {
        #expect(findings("  - { url: 'shop://list', to: { root: list } }").isEmpty)
        #expect(findings("  - { url: 'shop://item', when: { root: list }, to: { path: item } }").isEmpty)
        #expect(
            findings(
                """
                  - url: shop://review/{id}?page={page}
                    when: { root: list }
                    unless: { presented: [item] }
                    to:
                      path:
                        - item
                        - { screen: review, arguments: { id: "${url.id}", page: "${url.page}", fixed: [1] } }
                      present: { screen: settings, style: sheet, detents: [large] }
                    send: command.LoadReview
                    park: 90s
                    over: { sheet: wait, alert: refuse }
                  - url: shop://item/{itemID}?pieces={pieces:integer}
                    when: { root: list }
                    to:
                      root: list
                      path: { screen: item, arguments: { itemID: "${url.itemID}", pieces: "${url.pieces:-1}" } }
                    otherwise: { root: settings }
                  - { url: "https://shop.example/items/{itemID}", redirect: "shop://item/${url.itemID}" }
                  - { url: "shop://refresh", action: true, send: command.RefreshRequested }
                  - url: shop://{path...}
                    to: { root: list, path: [{ screen: review, arguments: { path: "${url.path}" } }] }
                """
            ).isEmpty)
    }

    @Test("A link after one that matches all of its URLs is reported, and one before it is not")
    func competing() {
        let special = "  - { url: 'shop://item/new', to: { root: list } }\n"
        let general =
            "  - { url: 'shop://item/{id}', to: { root: { screen: item, arguments: { id: '${url.id}' } } } }\n"
        #expect(findings(special + general).isEmpty)
        #expect(
            findings(general + special) == [
                "shop.yaml:16:7: the earlier link 'shop://item/{id}' matches all URLs of this link; "
                    + "move this link up, or remove it"
            ])
        // An earlier link with a condition that the later link lacks does not hide the later link.
        let conditional = special.replacing("to:", with: "when: { root: settings }, to:")
        #expect(findings(conditional + special).isEmpty)
        #expect(findings(conditional + conditional).count == 1)
        let query = special.replacing("new'", with: "new?mode=edit'")
        #expect(findings(query + special).isEmpty)
        #expect(findings(special + query).count == 1)
    }

    @Test(
        "Links with contradictory or invalid parts are refused",
        arguments: [
            ("to: { root: list }", "a link lacks 'url'; add it"),
            ("url: 'shop://x'", "the link opens no screens; add 'to: { root: SCREEN }', or 'redirect: URL'"),
            ("url: 'shop://x', to: 5", "'to' must be a mapping"),
            ("url: 'x/y', to: { root: list }", "a link's URL must begin with a scheme"),
            ("url: 'shop://x/{id', to: { root: list }", "'{id' in a link's URL is invalid"),
            ("url: 'shop://x/{id}', to: { root: list }", "no screen uses '{id}' of the link's URL"),
            ("url: 'shop://x', to: { root: lst }", "unknown screen 'lst'; did you mean 'list'?"),
            ("url: 'shop://x', to: { root: list, path: [itm] }", "unknown screen 'itm'; did you mean 'item'?"),
            ("url: 'shop://x', when: { root: lst }, to: { path: [item] }", "unknown screen 'lst'"),
            (
                "url: 'shop://x', to: { root: list, present: { screen: y, style: sheet } }",
                "unknown screen 'y'; known: item, list"
            ),
            ("url: 'shop://x', to: { root: list, present: { screen: item, style: alert } }", "an alert needs a title"),
            ("url: 'shop://x', when: { root: list }, to: {}", "'to' is empty"),
            ("url: 'shop://x', to: { rot: list }", "unknown key 'rot' in 'to'; did you mean 'root'?"),
            (
                "url: 'shop://x', to: { root: list, columns: { a: item } }",
                "'columns' needs a root with 'container: split'"
            ),
            ("url: 'shop://x', to: { root: list, tab: a }", "tab 'a' needs a root whose container has this tab"),
            (
                "url: 'shop://x', to: { root: { screen: list, arguments: { a: '${url.id}' } } }",
                "the link's URL has no '{id}'; there are none yet"
            ),
            (
                "url: 'shop://{id}', to: { root: { screen: list, arguments: { a: 'x${url.id}' } } }",
                "the host of a link's URL cannot contain '{…}'"
            ),
            (
                "url: 'shop://x/{id}', to: { root: { screen: list, arguments: { a: 'x${url.id}', b: '${url.id}' } } }",
                "'a' of 'list' must be a constant or only '${url.NAME}' or '${url.NAME:-DEFAULT}'"
            ),
            (
                "url: 'shop://{i}', when: { top: { screen: item, arguments: { a: '${url.i}' } } }, to: { root: list }",
                "the conditions of a link cannot contain templates; remove '${…}'"
            ),
            (
                "url: 'shop://x', to: { root: { screen: list, container: split }, columns: { a: { screen: item, "
                    + "path: [itm] } } }",
                "unknown screen 'itm'; did you mean 'item'?"
            ),
            (
                "url: 'shop://x/{id}', to: { tab: item, root: { screen: list, container: { tabs: [item, "
                    + "{ screen: review, arguments: { a: '${url.id}' } }] } } }",
                "only the tab that the link selects can use values of the URL; remove '${…}'"
            ),
            ("url: 'shop://x', to: { root: list }, send: LoadItem", "'LoadItem' is not the type of a command"),
            (
                "url: 'shop://x', to: { root: list }, send: { type: command.A, data: { a: '${data.b}' } }",
                "'a' of 'command.A' must be a constant"
            ),
            (
                "url: 'shop://x', to: { root: list }, park: 10",
                "'10' is not a duration; write a whole number and a unit: 500ms, 5s, 2m, 1h, 7d"
            ),
            ("url: 'shop://x', to: { root: list }, park: 99999999999999d", "'99999999999999d' is not a duration"),
            ("url: 'shop://x', to: { root: list }, park: 367d", "'park' must be at least 0s and at most 366d"),
            ("url: 'shop://x', to: { root: list }, over: { sheet: kill }", "unknown precedence 'kill'; known:"),
            ("url: 'shop://x', to: { root: list }, over: { shet: wait }", "unknown key 'shet' in 'over'"),
        ])
    func refused(link: String, expected: String) {
        let found = findings("  - { \(link) }")
        #expect(found.contains { $0.hasPrefix("shop.yaml:15:") && $0.contains(expected) }, "\(found)")
    }

    private static let arguments =
        "brew: { arguments: { minutes: { type: integer, maximum: 60 }, strong?: boolean, kind?: { enum: [a, b] }, "
        + "tags?: [string] } }"

    @Test(
        "A value of the URL that a screen or a command does not allow is reported",
        arguments: [
            ("brew/{m:integer}", "minutes: '${url.m}'", ""),
            (
                "brew/{m:integer}?s={s:boolean}&k={k}", "minutes: '${url.m}', strong: '${url.s}', kind: '${url.k:-a}'",
                ""
            ),
            (
                "brew/{m}", "minutes: '${url.m}'",
                "'minutes' of 'brew' is a whole number of at most 60, not '{m}'; write '{m:integer}'"
            ),
            ("brew/{m:number}", "minutes: '${url.m}'", "not '{m}'; write '{m:integer}'"),
            ("brew/{m}", "minutes: 5, kind: '${url.m}'", ""),
            ("brew/{m:boolean}", "minutes: 5, kind: '${url.m}'", "'kind' of 'brew' is one of"),
            ("brew/{m}", "minutes: 5, tags: '${url.m}'", "'tags' of 'brew' is a list, not '{m}'; use a constant"),
            (
                "brew/{m?:integer}", "minutes: '${url.m}'",
                "'brew' requires 'minutes', and a URL may lack '{m}'; write '${url.m:-DEFAULT}'"
            ),
            ("brew/{m?:integer}", "minutes: '${url.m:-5}'", ""),
            ("brew/{m?:integer}", "minutes: '${url.m:-05}'", "the default '05' of '{m:integer}' is not of this type"),
            (
                "brew/{m?:integer}", "minutes: '${url.m:-61}'",
                "the default of '{m}' for 'brew' is not allowed: minutes: expected"
            ),
            ("brew/{m:integer}", "minutes: '${url.m:-5}'", "every URL has '{m}', so the default is never used"),
            ("brew?m={m:integer}", "minutes: '${url.m}'", "requires 'minutes'"),
            ("brew/{m?:integer}", "minutes: '${url.n:-5}'", "the link's URL has no '{n}'"),
            ("brew/{m?}", "minutes: 5, kind: '${url.m:-${x}}'", "must be a constant or only"),
        ])
    func declared(pattern: String, arguments: String, expected: String) {
        let head = Self.head.replacing("settings: { gate: true }", with: Self.arguments)
        let link = "  - { url: 'shop://\(pattern)', to: { root: { screen: brew, arguments: { \(arguments) } } } }"
        let found = FlowFinding.refused { () throws(FlowError) in try Flow(yaml: head + link, file: "shop.yaml") }
        if expected.isEmpty {
            #expect(found.isEmpty, "\(found)")
        } else {
            #expect(found.contains { $0.description.contains(expected) }, "\(found)")
        }
    }

    @Test("A value that a declared command does not allow is reported")
    func declaredCommand() {
        let yaml =
            "commands: { command.Stop: { after: integer } }\n" + Self.head
            + "  - { url: 'shop://stop?after={a}', action: true, "
            + "send: { type: command.Stop, data: { after: '${url.a}' } } }"
        let found = FlowFinding.refused { () throws(FlowError) in try Flow(yaml: yaml, file: "shop.yaml") }
        #expect(
            found.count == 1 && found[0].message.contains("'after' of 'command.Stop' is a whole number"), "\(found)")
    }

    @Test(
        "Each kind of link has its own keys",
        arguments: [
            ("action: true, send: command.A", ""), ("redirect: 'shop://known'", ""),
            ("to: { root: list }, when: { root: item }, otherwise: { root: item }", ""),
            ("send: command.A", "the link opens no screens; add 'to: { root: SCREEN }', or 'action: true'"),
            ("action: true", "a link with 'action: true' needs 'send'; add a command"),
            ("action: true, send: command.A, to: { root: list }", "opens no screens and does not wait; remove 'to'"),
            ("action: true, send: command.A, park: 5s", "remove 'park'"),
            ("action: true, send: command.A, over: { sheet: wait }", "remove 'over'"),
            ("action: true, send: command.A, when: { root: item }, otherwise: { root: list }", "remove 'otherwise'"),
            ("action: maybe, send: command.A", "action must be true or false"),
            ("redirect: 'shop://known', to: { root: list }", "only leads to another URL; remove 'to'"),
            ("redirect: 'shop://known', send: command.A", "remove 'send'"),
            ("redirect: 'shop://known', park: 0s", "remove 'park'"),
            ("to: { root: list }, otherwise: { root: item }", "and it has none; add 'when' or 'unless'"),
            ("to: { root: list }, when: { root: item }, otherwise: {}", "'otherwise' is empty"),
            ("to: { root: list }, when: { root: item }, otherwise: { root: itm }", "unknown screen 'itm'"),
            ("redirect: 'known'", "'redirect' must be a URL with a scheme"),
            ("redirect: '${url.a}://x'", "'redirect' must be a URL with a scheme"),
            ("redirect: 'shop://known/${data.a}'", "'redirect' must be a URL with a scheme"),
            ("redirect: 'shop://known/${url.a}'", "the link's URL has no '{a}'"),
            ("redirect: 'shop://X?y'", "the redirect leads to the link itself"),
            ("redirect: 'shop://x', when: { root: item }", ""),
            ("redirect: 'shop://knwn'", "no link matches the redirect 'shop://knwn'; did you mean 'shop://known'?"),
        ])
    func kinds(keys: String, expected: String) {
        let found = findings("  - { url: 'shop://x', \(keys) }\n  - { url: 'shop://known', to: { root: item } }")
        if expected.isEmpty {
            #expect(found.isEmpty, "\(found)")
        } else {
            #expect(found.count == 1 && found[0].contains(expected), "\(found)")
            #expect(found.first?.hasPrefix("shop.yaml:15:") == true)
        }
    }

    @Test(
        "A redirect is reported only if no link can match it",
        arguments: [
            ("a/{v}", "shop://item/${url.v}", true), ("a/{v}", "shop://count/${url.v}", true),
            ("a/{v}", "shop://itm/${url.v}", false), ("a/{v}", "shop://${url.v}/7", true),
            ("a/{v}", "shop://item/${url.v}/x", false), ("a?v={v}", "shop://itm/${url.v}", true),
            ("a/{v...}", "shop://item/${url.v}", true), ("a/{v}", "shop://mode?m=${url.v}", true),
            ("a/{v}", "shop://mode?n=${url.v}", false), ("a/{v}", "shop://count/x", false),
        ])
    func redirects(pattern: String, redirect: String, isKnown: Bool) {
        let found = findings(
            """
              - { url: 'shop://\(pattern)', redirect: '\(redirect)' }
              - { url: 'shop://item/{id}', to: { root: { screen: item, arguments: { id: '${url.id}' } } } }
              - { url: 'shop://count/{n:integer}', to: { root: { screen: item, arguments: { n: '${url.n}' } } } }
              - { url: 'shop://mode?m=edit', to: { root: item } }
            """)
        #expect(found.isEmpty == isKnown, "\(found)")
    }

    @Test(
        "A link hides a later one only if it matches all values of its types",
        arguments: [
            ("i/{a:integer}", "i/{a:integer}", true), ("i/{a}", "i/{a:integer}", true),
            ("i/{a:integer}", "i/{a}", false), ("i/{a:number}", "i/{a:integer}", true),
            ("i/{a:integer}", "i/{a:number}", false), ("i/{a:integer}", "i/5", true), ("i/{a:integer}", "i/05", false),
            ("i/{a:integer}", "i/1{a:integer}", false), ("i/{a?}", "i", true), ("i/{a?}", "i/{a}", true),
            ("i/{a?:integer}", "i/{a?}", false), ("i/{a}", "i/{a?}", false), ("i/{a...}", "i/{a}", true),
            ("i/{a...}", "i/{a}/{b}", true), ("i/{a...}", "i", false), ("i/{a...}", "i/{a?}", false),
            ("{a...}", "i/{a?}", true), ("{a...}", "i", true), ("i/{a...}", "{a...}", false),
            ("i/{a}", "i/{a...}", false),
            ("i?a={a:integer}", "i", false), ("i?a={a:integer}", "i?a={a:integer}", true), ("i?a={a}", "i", true),
        ])
    func hidden(earlier: String, later: String, isHidden: Bool) {
        let links = [earlier, later].map { pattern in
            let values = ["a", "b"].filter { pattern.contains("{\($0)") }.map { "\($0): '${url.\($0)}'" }
            return
                "  - { url: 'shop://\(pattern)', to: { root: { screen: item, arguments: { "
                + values.joined(separator: ", ") + " } } } }\n"
        }
        let found = findings(links.joined())
        #expect(found.contains { $0.contains("matches all URLs of this link") } == isHidden, "\(found)")
    }

    @Test("The value of 'gate' must be true or false")
    func gate() {
        let yaml = Self.head.replacing("gate: true", with: "gate: maybe")
        let error = #expect(throws: FlowError.self) { try Flow(yaml: yaml + "  []", file: "shop.yaml") }
        #expect(error?.message == "shop.yaml:9:21: gate must be true or false")
    }

    @Test("A rule on a message that links answer is refused")
    func ruleForLinks() {
        let yaml = Self.head.replacing("event.Reset", with: "event.DeepLinkReceived")
        let error = #expect(throws: FlowError.self) {
            try Flow(yaml: yaml + "  - { url: 'shop://list', to: { root: list } }", file: "shop.yaml")
        }
        #expect(
            error?.message
                == "shop.yaml:13:7: the flow's 'links' handle 'event.DeepLinkReceived'; remove this rule or 'links'")
    }

    @Test("Every part of a link is written and read back")
    func readsBack() throws {
        let flow = try LinkFlow.flow(over: [.sheet: .wait, .window: .refuse], park: .milliseconds(1500))
        let written = try Flow(yaml: flow.json.description, file: "written.json")
        #expect(written == flow)
        #expect(written.hash == flow.hash)
        #expect(flow.json.value(at: "links.0.park") == "1500ms")
        #expect(flow.json.value(at: "screens.terms.gate") == true)

        let all = try Flow("all", version: 1, platform: "mac", start: "a") {
            Flow.Screen("a")
            for (number, park) in [Duration.zero, .seconds(86_400), .seconds(7200), .seconds(60)].enumerated() {
                Flow.Link(
                    "x:a\(number)/{b}?c={c}",
                    when: [.top("a"), .root("a")],
                    unless: [.path("a"), .presented("a")],
                    to: .init(
                        root: .init(.screen("a", ["b": "${url.b}"]), container: .split),
                        columns: ["one": "a", "two": .screen("a", ["c": "${url.c}"], path: ["a"])],
                        path: ["a"],
                        present: .init("a", as: .popover)
                    ),
                    send: [.init("command.A", ["b": "${url.b}", "n": 1]), .init("command.B")],
                    park: park
                )
            }
            let tabs = Flow.Layout.tabs([.tab("s", "a"), .tab("t", "a")])
            Flow.Link("x:t", to: .init(root: .init("a", container: tabs), tab: "t", path: ["a"]))
            Flow.Link(
                "x:u/{n?:integer}", when: [.root("a")],
                to: .init(root: .init(.screen("a", ["n": "${url.n:-1}", "text": "$${x}"]))),
                otherwise: .init(path: ["a"]))
            Flow.Link("x:v/{rest...}", redirect: "x:u/${url.rest}")
            Flow.Link(
                "x:w?n={n:number}", unless: [.path("a")], action: true, send: [.init("command.A", ["n": "${url.n}"])])
        }
        #expect(try Flow(yaml: all.yaml, file: "written.yaml") == all)
        #expect(try Flow(yaml: all.json.description, file: "written.json") == all)
    }
}
