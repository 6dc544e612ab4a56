import FlowFiles
import FlowReview
import Navigation
import Testing

@Suite("Review of loops")
struct LoopReviewTests {
    private func findings(_ rules: String, links: String = "", flows: String = "") -> [String] {
        let yaml = """
            name: shop
            version: 1
            platform: ios
            start: a
            screens: { a: { sends: [command.X, command.Y] }, b: { sends: [command.B] }, c: }
            transitions:
              - { on: event.B, do: [{ push: b }] }
              - { on: command.B, when: { top: b }, do: [{ push: c }] }
            \(rules)
            links:
              - { url: "x:a", to: { root: a } }
            \(links)
            \(flows)
            """
        return Flow.review(yaml: yaml, file: "shop.yaml").findings.map(\.description)
    }

    @Test(
        "Rules that only send commands, and lead back to themselves, are found",
        arguments: [
            "  - { on: command.X, do: [{ send: command.X }] }",
            "  - { on: command.X, when: { root: a }, do: [{ send: command.Y }] }\n"
                + "  - { on: command.Y, do: [{ openURL: 'https://x' }, { send: { type: command.X, data: { n: 1 } } }] }",
        ])
    func rules(rules: String) {
        let found = findings(rules)
        #expect(found.count == rules.split(separator: "\n").count)
        #expect(found.allSatisfy { $0.hasSuffix("[endless]") && $0.contains("leads to '") }, "\(found)")
    }

    @Test(
        "A rule that changes the screens, asks for a field or has a guard may come to an end",
        arguments: [
            "  - { on: command.X, do: [{ send: command.X }, { goTo: b }] }",
            "  - { on: command.X, where: { n: 1 }, do: [{ send: command.X }] }",
            "  - { on: command.X, guard: { accept: event.A, deadline: 1s }, do: [{ send: command.X }] }",
            "  - { on: command.X, do: [{ send: command.Y }] }\n  - { on: command.Y, do: [{ send: command.Z }] }",
        ])
    func ending(rules: String) {
        #expect(findings(rules).filter { $0.hasSuffix("[endless]") } == [])
    }

    @Test("Redirects that lead to each other are found, unless a condition may end this")
    func redirects() {
        let first = "  - { url: 'x:p/{n}', redirect: 'x:q?m=${url.n}' }\n"
        #expect(findings("", links: first + "  - { url: 'x:q?m={m}', redirect: 'x:p/1' }").count == 2)
        #expect(findings("", links: first + "  - { url: 'x:q?m={m}', redirect: 'x:a' }") == [])
        #expect(findings("", links: first + "  - { url: 'x:q?m={m}', when: { top: b }, redirect: 'x:p/1' }") == [])
    }

    @Test("A child flow that the user cannot leave needs a rule that ends it")
    func childFlow() {
        func flow(_ actions: String, _ rule: String = "") -> [String] {
            findings(
                "  - { on: command.X, do: [{ present: { flow: f, \(actions) } }] }\n\(rule)",
                flows:
                    "flows: { f: { start: b, transitions: [ { on: command.B, when: { top: b }, do: [{ push: c }] } ] } }"
            )
        }
        let found = flow("style: fullScreen")
        #expect(found.count == 1 && found[0].contains("cannot leave child flow 'f', and no rule ends it"), "\(found)")
        #expect(flow("style: sheet") == [])
        #expect(flow("style: fullScreen", "  - { on: event.Done, do: [dismissAll] }") == [])
    }

    @Test("An update of a screen that cannot be open is found")
    func update() {
        let rule = "  - { on: command.X, when: { top: a }, do: [{ update: { screen: c, arguments: { n: 1 } } }] }"
        let found = findings(rule)
        #expect(found.count == 1 && found[0].contains("only 'a' is open here"), "\(found)")
        #expect(findings(rule.replacing("screen: c", with: "screen: a")) == [])
        #expect(findings("  - { on: event.C, do: [{ update: { screen: c, arguments: { n: 1 } } }] }") == [])
    }
}
