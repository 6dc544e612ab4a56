import FlowFiles
import FlowReview
import Navigation
import Testing

@Suite("Review of deep links")
struct LinkReviewTests {
    private static let head = """
        name: shop
        version: 1
        platform: ios
        start: list
        screens:
          list: { sends: [command.ItemSelected] }
          item: { sends: [command.ReviewSelected], once: true }
          review: { once: true }
          settings:
        transitions:
          - { on: command.ItemSelected, do: [{ push: item }] }
          - { on: command.ReviewSelected, do: [{ push: review }] }
          - { on: event.Reset, do: [{ replacePath: [item, review] }] }
        links:
          - { url: 'shop://settings', to: { root: settings } }

        """

    private func findings(_ link: String) -> [String] {
        Flow.review(yaml: Self.head + "  - { url: 'shop://x', \(link) }", file: "shop.yaml").findings.map(\.description)
    }

    @Test(
        "A link that opens a screen above an unusual one has a note",
        arguments: [
            (
                "to: { root: list, path: [review] }", "note: rules push 'review' only on 'item', and going back",
                "unusual-back-path"
            ),
            (
                "to: { root: list, path: [item, settings, review] }", "note: rules push 'review' only on 'item'",
                "unusual-back-path"
            ),
            ("to: { root: settings, path: [item] }", "note: rules push 'item' only on 'list'", "unusual-back-path"),
            ("to: { path: [item] }", "warning: the link names no root", "open-root"),
            ("when: { top: list }, to: { path: [item] }", "warning: the link names no root", "open-root"),
        ])
    func unusual(link: String, expected: String, code: String) {
        let found = findings(link)
        #expect(found.count == 1, "\(found)")
        #expect(found.first?.hasPrefix("shop.yaml:16:") == true)
        #expect(found.first?.contains(expected) == true, "\(found)")
        #expect(found.first?.hasSuffix("[\(code)]") == true, "\(found)")
    }

    @Test(
        "A link that opens a screen where rules push it has no note",
        arguments: ["to: { root: list, path: [item, review] }", "when: { root: list }, to: { path: [item] }"])
    func usual(link: String) {
        #expect(findings(link) == [])
    }

    @Test("A link that only sends commands has a note, which a comment accepts")
    func action() {
        let link = "when: { root: list }, action: true, send: [command.ItemSelected, command.ReviewSelected]"
        #expect(
            findings(link) == [
                "shop.yaml:16:5: note: any web page can open 'shop://x'; it sends 'command.ItemSelected' and "
                    + "'command.ReviewSelected'; accept this if anybody may send them [action-link]"
            ])
        #expect(
            findings(link + " }   # check: allow action-link, harmless\n  - { url: 'shop://y', to: { root: list }")
                == [])
        let accepted = " }\n  # check: allow action-link, harmless\n  - url: 'shop://y'\n    action: true\n    "
        #expect(findings(link + accepted + "send: command.ItemSelected #").count == 1)
    }

    @Test("A command that only a link sends is sent, and its rule leads to screens")
    func sentByLink() {
        let yaml =
            Self.head.replacing("list: { sends: [command.ItemSelected] }", with: "list:")
            + "  - { url: 'shop://x', action: true, send: command.ItemSelected }   # check: allow action-link, harmless"
        #expect(Flow.review(yaml: yaml, file: "shop.yaml").findings.map(\.description) == [])
    }

    @Test("The screens of 'otherwise' are reached, and their path is checked")
    func otherwise() {
        #expect(findings("when: { root: settings }, to: { path: [item] }, otherwise: { root: list }").count == 1)
        let found = findings(
            "when: { root: list }, to: { path: [item] }, otherwise: { root: list, path: [review] }")
        #expect(found.count == 1 && found[0].contains("rules push 'review' only on 'item'"), "\(found)")
        let only =
            Self.head.replacing("  - { url: 'shop://settings', to: { root: settings } }\n", with: "")
            + "  - { url: 'shop://x', when: { root: list }, to: { path: [item] }, otherwise: { root: settings } }"
        #expect(Flow.review(yaml: only, file: "shop.yaml").findings.map(\.description) == [])
    }

    @Test("The graph has edges for 'otherwise', for the commands of a link, and for the targets of a redirect")
    func edges() throws {
        let flow = try Flow("shop", version: 1, platform: "ios", start: "a") {
            for name in ["a", "b", "c", "d"] { Flow.Screen(name) }
            Flow.Transition(on: "command.B", when: [.root("a")], do: [.push("b")])
            Flow.Link("x:b", when: [.path("d")], action: true, send: [.init("command.B")])
            Flow.Link("x:c", when: [.path("b")], to: .init(path: ["c"]), otherwise: .init(path: ["d"]))
            Flow.Link("x:d", redirect: "x:c")
        }
        let links = flow.graph.edges.filter(\.rule.isLink)
        #expect(links.map(\.to) == ["b", "c", "d", "c"])
        #expect(links.map(\.from) == ["d", "b", nil, nil])
        #expect(links.map(\.rule.isOtherwise) == [false, false, true, false])
        #expect(links.map(\.rule.keyPath) == ["links[0]", "links[1]", "links[1]", "links[2]"])
        #expect(flow.graph.nodes.allSatisfy { $0.isReached })
    }
}
