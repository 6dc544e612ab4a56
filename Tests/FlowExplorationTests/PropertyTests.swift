import FlowExploration
import FlowFiles
import FlowReview
import Navigation
import Support
import Testing

@Suite("Properties of flows")
struct PropertyTests {
    private func findings(_ properties: String) throws -> [String] {
        let flow = try Flow(yaml: Self.yaml(properties), file: "shop.yaml")
        var explorer = FlowExplorer([flow])
        explorer.explore()
        return explorer.findings(in: 0).map { found in
            "\(found.problem.keyPath) \(found.problem.message)" + (found.story?.steps ?? []).map { "\n\($0)" }.joined()
        }
    }

    private static func yaml(_ properties: String) -> String {
        """
        name: shop
        version: 1
        platform: ios
        start: list
        screens:
          list: { sends: [command.Pay, command.Menu] }
          menu:
          paid: { sends: [command.Done] }
        transitions:
          - { on: command.Menu, when: { top: list }, do: [{ present: { screen: menu, style: sheet } }] }
          - { on: command.Pay, when: { top: list }, do: [{ setRoot: paid }] }
          - { on: command.Done, when: { top: paid }, do: [{ openURL: "https://shop.example" }] }
          - { on: event.LoggedOut, when: { root: paid }, do: [{ setRoot: list }] }
        properties:
        \(properties)
        """
    }

    @Test("Properties that hold are not reported")
    func hold() throws {
        #expect(
            try findings(
                """
                  - never: { root: paid, presented: menu }
                  - { when: { presented: menu }, always: { root: list } }
                  - { unless: { root: list }, always: { top: paid } }
                  - { when: { root: paid }, canReach: { presented: menu } }
                """) == [])
    }

    @Test("A property that does not hold is reported with the shortest story that shows it")
    func violated() throws {
        #expect(
            try findings("  - never: { root: list, presented: menu }") == [
                """
                properties[0].never this holds in a state; correct the rules or the property
                - send: { type: command.Menu, from: list }
                """
            ])
        #expect(
            try findings("  - { when: { root: [list, paid] }, always: { root: list } }") == [
                """
                properties[0].always this does not hold in a state; correct the rules or the property
                - send: { type: command.Pay, from: list }
                """
            ])
    }

    @Test("A goal that cannot be reached any more is reported with the story to the first state that is too late")
    func lost() throws {
        let flow = try Flow(
            yaml: Self.yaml("  - canReach: { presented: menu }").replacing(
                "  - { on: event.LoggedOut, when: { root: paid }, do: [{ setRoot: list }] }\n", with: ""),
            file: "shop.yaml")
        var explorer = FlowExplorer([flow])
        explorer.explore()
        let found = try #require(explorer.findings(in: 0).first)
        #expect(found.problem.keyPath == "properties[0].canReach")
        #expect(found.story?.steps == ["- send: { type: command.Pay, from: list }"])
    }

    @Test("A property does not change what the flow is: sessions of the same flow without it go on")
    func identity() throws {
        let flows = try ["  - never: { root: menu }", "  []"].map { try Flow(yaml: Self.yaml($0), file: "shop.yaml") }
        #expect(flows[0].identity == flows[1].identity)
        #expect(flows[0].json != flows[1].json)
        #expect(try Flow(yaml: flows[0].yaml, file: "again.yaml").properties == flows[0].properties)
    }

    @Test(
        "Mistakes in properties are found",
        arguments: [
            ("  - { when: { root: list } }", "a property has one of the keys always, never, canReach"),
            ("  - { always: { root: list }, never: { root: list } }", "a property has one of the keys"),
            ("  - never: { root: none }", "unknown screen 'none'"),
            ("  - never: { sender: list }", "no screen sends a property; remove 'sender'"),
            ("  - never: { root: { screen: list, arguments: { a: '${data.a}' } } }", "cannot contain templates"),
        ])
    func mistakes(yaml: String, message: String) {
        let error = #expect(throws: FlowError.self) { try Flow(yaml: Self.yaml(yaml), file: "shop.yaml") }
        #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
    }
}
