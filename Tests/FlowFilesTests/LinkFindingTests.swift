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
            ("url: 'shop://x'", "a link lacks 'to'; add it"),
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
                "'a' of 'list' must be a constant or only '${url.NAME}'"
            ),
            (
                "url: 'shop://{i}', when: { top: { screen: item, arguments: { a: '${url.i}' } } }, to: { root: list }",
                "a link's conditions cannot contain templates; remove '${…}'"
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
        }
        #expect(try Flow(yaml: all.json.description, file: "written.json") == all)
    }
}
