import Navigation
import Testing

@Suite("A review that knows the app's messages finds those that there are not, and fields that they lack")
struct FlowReviewMessagesTests {
    private static let catalogue = MessageCatalogue([
        "command.ItemSelected": ["itemID", "colour"], "command.Save": ["name"], "command.Load": ["itemID"],
        "event.Saved": ["draft"], "event.Refused": ["why"],
    ])

    /// A flow of a list and an item; rules begin on line 9.
    private func findings(_ rules: String, links: String = "") -> [String] {
        let yaml = """
            name: shop
            version: 1
            platform: ios
            start: list
            screens:
              list: { sends: [command.ItemSelected, command.Save] }
              item:
            transitions:
              - on: command.ItemSelected
                do: [{ push: item }]
            \(rules.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n"))
            \(links)
            """
        return Flow.review(yaml: yaml, file: "shop.yaml", messages: Self.catalogue).findings.map(\.description)
    }

    @Test("Of messages and fields that there are nothing is said")
    func known() {
        let rules = """
            - on: command.Save
              where: { name: [a, b] }
              guard:
                ask: { type: command.Load, data: { itemID: "${data.name}" } }
                accept: { on: event.Saved, where: { draft.number: 1 } }
                reject: event.Refused
                deadline: 5s
                rejected: [{ push: { screen: item, arguments: { why: "${answer.why}" } } }]
              do: [{ push: { screen: item, arguments: { draft: "${answer.draft.number}", name: "${data.name}" } } }]
            """
        #expect(findings(rules) == [])
    }

    @Test(
        "What there is not is found where it stands",
        arguments: [
            (
                "- { on: event.Savd, do: [pop] }",
                "11:7: warning: there is no message 'event.Savd'; did you mean 'event.Saved'?"
            ),
            (
                "- { on: event.Saved, where: { drft: 1 }, do: [pop] }",
                "11:33: warning: 'event.Saved' has no field 'drft'; did you mean 'draft'?"
            ),
            (
                "- { on: event.Saved, do: [{ push: { screen: item, arguments: { x: \"${data.colour}\" } } }] }",
                "11:37: warning: 'event.Saved' has no field 'colour'; known are draft"
            ),
            (
                "- { on: event.Saved, do: [{ send: { type: command.Load, data: { id: 1 } } }] }",
                "11:37: warning: 'command.Load' has no field 'id'; known are itemID"
            ),
            (
                "- { on: event.Saved, guard: { accept: event.Nothing, deadline: 1s }, do: [pop] }",
                "11:33: warning: there is no message 'event.Nothing'; let a service declare it, or remove it"
            ),
            (
                "- { on: event.Saved, guard: { accept: event.Refused, deadline: 1s }, do: [openURL: 'x://${answer.draft}'] }",
                "11:77: warning: 'event.Refused' has no field 'draft'; known are why"
            ),
        ])
    func unknown(rule: String, expected: String) {
        #expect(findings(rule) == ["shop.yaml:\(expected)"])
    }

    @Test("A deep link's commands are looked at too")
    func links() {
        let links = """
            links:
              - url: shop://{id}
                to: { root: list, path: [{ screen: item, arguments: { id: "${url.id}" } }] }
                send: { type: command.ItemSelected, data: { item: "${url.id}" } }
            """
        #expect(
            findings("", links: links).contains {
                $0.contains("'command.ItemSelected' has no field 'item'; known are colour, itemID")
            })
    }
}
