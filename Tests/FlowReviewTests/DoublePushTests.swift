import FlowFiles
import FlowReview
import Foundation
import Navigation
import TestSupport
import Testing

@Suite("Screens that two taps push twice")
struct DoublePushTests {
    private func findings(_ rules: String, once: Bool = false) -> [String] {
        let yaml = """
            name: shop
            version: 1
            platform: ios
            start: list
            screens:
              list: { sends: [command.Show] }
              item:\(once ? " { once: true }" : "")
              note:
              form: { sends: [command.Save] }
            transitions:
              - { on: event.Form, do: [{ present: { screen: form, style: sheet } }] }
              - { on: event.Note, do: [{ push: note }, { push: item }] }
            \(rules.split(separator: "\n").map { "  - { \($0) }" }.joined(separator: "\n"))

            """
        return FlowReading(yaml: yaml, file: "shop.yaml").review().findings
            .filter { $0.code != .neverApplies }.map(\.description)
    }

    @Test(
        "A push that nothing prevents after the first tap is reported",
        arguments: [
            "do: [{ push: item }]", "when: { root: list }, do: [{ push: item }]",
            "when: { presented: [] }, do: [dismissAll, { push: item }]",
            "unless: { top: note }, do: [{ push: item }]", "do: [{ push: { screen: item, on: sender } }]",
            "unless: { top: { screen: item, arguments: { id: 1 } } }, do: [{ push: { screen: item, arguments: { id: 2 } } }]",
            "when: { shown: [list, item] }, do: [{ push: item }]", "do: [{ ifPossible: { push: item } }]",
        ])
    func reported(rule: String) {
        let found = findings("on: command.Show, \(rule)")
        #expect(found.count == 1, "\(found)")
        #expect(
            found.first?.contains(
                "warning: two taps push 'item' twice, because the rule still applies after the first one; write "
                    + "'once: true' at screen 'item', or 'unless: { top: item }' in the rule [double-push]") == true,
            "\(found)")
        #expect(findings("on: command.Show, \(rule)", once: true) == [])
    }

    @Test(
        "A push that happens only once is not reported",
        arguments: [
            "on: command.Show, when: { top: list }, do: [{ push: item }]",
            "on: command.Show, when: { shown: list }, do: [{ push: item }]",
            "on: command.Show, when: { path: [] }, do: [{ push: item }]",
            "on: command.Show, unless: { top: item }, do: [{ push: item }]",
            "on: command.Show, unless: { path: item }, do: [{ push: item }]",
            "on: command.Show, unless: { shown: { screen: item, arguments: { id: '${data.id}' } } }, "
                + "do: [{ push: { screen: item, arguments: { id: '${data.id}' } } }]",
            "on: command.Show, do: [popToRoot, { push: item }]", "on: command.Show, do: [{ goTo: item }]",
            "on: command.Show, do: [{ setRoot: list }, { push: item }]",
            "on: command.Show, do: [{ present: { screen: item, style: sheet } }]",
            "on: command.Show, guard: { accept: event.Ready, deadline: 5s }, do: [{ push: item }]",
            "on: command.Save, do: [dismissAll, { push: item }]", "on: command.Save, do: [dismiss, { push: item }]",
            "on: event.Show, do: [{ push: item }]",
            "on: command.Show, when: { top: item }, do: [{ send: command.Save }]\non: command.Show, do: [{ push: item }]",
        ])
    func accepted(rules: String) {
        #expect(findings(rules).filter { $0.contains("double-push") } == [])
    }

    @Test(
        "The example flows have no warnings", arguments: ["brew", "dispatch", "onboarding", "router", "three-screens"])
    func examples(name: String) throws {
        let path = "config/flows/examples/\(name).yaml"
        let yaml = try String(contentsOfFile: Repository.path(path), encoding: .utf8)
        #expect(FlowReading(yaml: yaml, file: path).review().warnings == [])
    }
}
