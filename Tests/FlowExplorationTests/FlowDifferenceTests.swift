import FlowExploration
import FlowFiles
import FlowReview
import Navigation
import SampleFlows
import Support
import Testing

@Suite("What changes for users")
struct FlowDifferenceTests {
    private static let shop = """
        name: shop
        version: 1
        platform: ios
        start: list
        screens:
          list: { sends: [command.Open, command.Pay] }
          item:
          cart:
        transitions:
          - { on: command.Open, when: { top: list }, do: [{ push: item }] }
          - { on: command.Pay, when: { top: list }, do: [{ send: command.Store }, { present: { screen: cart, style: sheet } }] }
        """

    private func difference(_ change: (String) -> String) throws -> FlowDifference {
        let coverages = try [Self.shop, change(Self.shop)].map { yaml in
            var explorer = FlowExplorer([try Flow(yaml: yaml, file: "shop.yaml")])
            let exploration = explorer.explore()
            #expect(exploration.isWhole)
            return exploration.coverages[0]
        }
        return FlowDifference(from: coverages[0], to: coverages[1])
    }

    @Test(
        "Edits that users do not see are no difference",
        arguments: [
            ("version: 1", "version: 2"), ("name: shop", "name: store"),
            ("  cart:\n", "  cart: { title: Your cart }\n"),
            ("when: { top: list }, do: [{ push: item }]", "when: { root: list, top: list }, do: [{ push: item }]"),
            ("transitions:\n", "transitions:\n  - { on: command.Open, when: { top: item }, do: [{ push: cart }] }\n"),
        ])
    func harmless(old: String, new: String) throws {
        let found = try difference { $0.replacing(old, with: new) }
        #expect(found.isEmpty, "\(found.lines)")
    }

    @Test(
        "What users see is told in words",
        arguments: [
            (
                "do: [{ push: item }]", "do: [{ setRoot: item }]",
                ["on 'item', back does nothing any more; before: 'list'"]
            ),
            (
                "do: [{ push: item }]", "do: [{ push: cart }]",
                [
                    "screen 'item' is not reached any more", "on 'cart', back is new: 'list'",
                    "on 'item', back does nothing any more; before: 'list'",
                    "on 'list', command.Open leads to 'cart'; before: 'item'",
                ]
            ),
            (
                "{ send: command.Store }, ", "",
                ["on 'list', command.Pay leads to 'cart'; before: 'cart' (sends command.Store)"]
            ),
            (
                "style: sheet", "style: fullScreen",
                ["on 'cart', dismiss does nothing any more; before: 'list'"]
            ),
        ])
    func visible(old: String, new: String, lines: [String]) throws {
        #expect(try difference { $0.replacing(old, with: new) }.lines == lines)
    }

    @Test("The Markdown has the lines, and a graph in which names have no effect")
    func markdown() throws {
        let found = try difference { $0.replacing("style: sheet", with: "style: fullScreen") }
        #expect(
            found.markdown == """
                - on 'cart', dismiss does nothing any more  before: 'list'

                ```mermaid
                stateDiagram-v2
                    state "cart" as s0
                    s0 : dismiss: does nothing any more  before: 'list'
                ```

                """)
    }
}
