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
}
