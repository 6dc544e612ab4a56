import FlowFiles
import FlowReview
import Navigation
import Support
import Testing

@Suite("Review with the messages of the app")
struct FlowReviewMessagesTests {
    private static let catalogue = MessageCatalogue([
        "command.ItemSelected": fields("itemID", "colour"), "command.Save": fields("name"),
        "command.Load": fields("itemID"),
        "event.Saved": fields("draft"), "event.Refused": fields("why"),
    ])

    /// A flow with a list and an item. The given rules follow on line 11.
    private func findings(_ rules: String, links: String = "") -> [String] {
        let yaml = """
            name: shop
            version: 1
            platform: ios
            start: list
            screens:
              list: { sends: [command.ItemSelected, command.Save] }
              item: { once: true }
            transitions:
              - on: command.ItemSelected
                do: [{ push: item }]
            \(rules.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n"))
            \(links)
            """
        return Flow.review(yaml: yaml, file: "shop.yaml", messages: Self.catalogue).findings.map(\.text)
    }

    @Test(
        "A condition on a value that the field never has is reported",
        arguments: [
            ("kind: new", nil), ("kind: [new, old]", nil),
            ("kind: nwe", "is never \"nwe\": expected one of \"new\", \"old\", found \"nwe\"; did you mean \"new\"?"),
            ("kind: { not: older }", "is never \"older\""), ("count: 5", nil),
            ("count: '5'", "'count' of 'event.Saved' is never \"5\": expected a number, found a string; correct it"),
            ("minutes: [1, 60]", nil), ("minutes: 61", "expected a whole number from 1 to 60, found 61; correct it"),
            ("minutes: 1.5", "expected a whole number"),
            ("item.sizes: 1", "has no field 'item.sizes'; did you mean 'size'?"),
            ("name.first: x", "'event.Saved' has no field 'name.first'"),
            ("name: { atLeast: 3 }", "'name' of 'event.Saved' is a string, and 'atLeast' and 'atMost' compare numbers"),
            ("kind: { atLeast: 3 }", "'kind' of 'event.Saved' is a string"), ("count: { atLeast: 3 }", nil),
            ("item.size: 1", nil), ("item.size: big", "is never \"big\""),
            ("item: null", nil),
        ] as [(String, String?)])
    func values(condition: String, expected: String?) {
        let catalogue = MessageCatalogue([
            "event.Saved": .object(requiring: [
                "kind": .enumeration(["new", "old"]), "count": .number, "name": .string,
                "item": .object(requiring: ["size": .number]),
                "minutes": .nullable(.range(.integer, atLeast: 1, atMost: 60)),
            ])
        ])
        let yaml =
            "name: shop\nversion: 1\nplatform: ios\nstart: list\nscreens: { list: }\ntransitions:\n"
            + "  - { on: event.Saved, where: { \(condition) }, do: [{ push: list }] }\n"
        let found = Flow.review(yaml: yaml, file: "shop.yaml", messages: catalogue).findings.map(\.description)
        #expect(found.count == (expected == nil ? 0 : 1), "\(found)")
        if let expected { #expect(found.first?.contains(expected) == true, "\(found)") }
    }

    @Test("Templates and conditions of a rule on several types need fields that all of these messages have")
    func severalTypes() {
        func rule(_ types: String, _ template: String) -> String {
            "- on: [\(types)]\n  do: [{ push: { screen: item, arguments: { a: \"\(template)\" } } }]"
        }
        #expect(
            findings(rule("event.Saved, event.Refused", "${data.why}")) == [
                "shop.yaml:12:18: warning: 'event.Saved' has no field 'why'; known: draft"
            ])
        let condition = "- on: [event.Saved, event.Refused]\n  where: { draft: 1 }\n  do: [{ push: item }]"
        #expect(findings(condition).count == 1)
        let ended = findings(rule("flow.finished, flow.abandoned", "${data.result.a}"))
        #expect(ended.contains { $0.contains("'flow.abandoned' has no field 'result'") }, "\(ended)")
    }

    @Test("Known messages and fields have no findings")
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
        "An unknown message or field is reported with its place",
        arguments: [
            (
                "- { on: event.Savd, do: [pop] }",
                "11:7: warning: the app has no message 'event.Savd'; did you mean 'event.Saved'?"
            ),
            (
                "- { on: event.Saved, where: { drft: 1 }, do: [pop] }",
                "11:33: warning: 'event.Saved' has no field 'drft'; did you mean 'draft'?"
            ),
            (
                "- { on: event.Saved, do: [{ push: { screen: item, arguments: { x: \"${data.colour}\" } } }] }",
                "11:37: warning: 'event.Saved' has no field 'colour'; known: draft"
            ),
            (
                "- { on: event.Saved, do: [{ send: { type: command.Load, data: { id: 1 } } }] }",
                "11:37: warning: 'command.Load' has no field 'id'; known: itemID"
            ),
            (
                "- { on: event.Saved, guard: { accept: event.Nothing, deadline: 1s }, do: [pop] }",
                "11:33: warning: the app has no message 'event.Nothing'; declare it in a service, or remove it"
            ),
            (
                "- { on: event.Saved, guard: { accept: event.Refused, deadline: 1s }, do: [openURL: 'x://${answer.draft}'] }",
                "11:77: warning: 'event.Refused' has no field 'draft'; known: why"
            ),
        ])
    func unknown(rule: String, expected: String) {
        #expect(findings(rule) == ["shop.yaml:\(expected)"])
    }

    @Test("The commands of a deep link are reviewed too")
    func links() {
        let links = """
            links:
              - url: shop://{id}
                to: { root: list, path: [{ screen: item, arguments: { id: "${url.id}" } }] }
                send: { type: command.ItemSelected, data: { item: "${url.id}" } }
            """
        #expect(
            findings("", links: links).contains {
                $0.contains("'command.ItemSelected' has no field 'item'; known: colour, itemID")
            })
    }
}

@Suite("Review with the services of the app")
struct FlowReviewServicesTests {
    /// The catalogue of four services: the shop packs, the store saves, the clerk handles packed items, and the post is
    /// unrelated.
    private static let catalogue = MessageCatalogue(
        [
            "command.ItemSelected": .object([:]), "command.Buy": .object([:]), "command.Help": .object([:]),
            "event.Saved": .object([:]), "event.Sold": .object([:]), "event.Packed": .object([:]),
            "event.Refused": .any, "event.Delivered": .object([:]), "error.Broken": .object([:]),
        ],
        services: [
            "clerk": .init(receives: ["event.Packed"]), "post": .init(receives: [], outcomes: ["event.Delivered"]),
            "shop": .init(receives: ["command.Buy"], outcomes: ["event.Sold", "event.Packed", "error.Broken"]),
            "store": .init(receives: [], outcomes: ["event.Saved", "event.Refused"]),
        ])

    private func findings(
        sends: String = "command.ItemSelected, command.Buy", on: String = "event.Saved", ignores: String = "",
        _ catalogue: MessageCatalogue = Self.catalogue
    ) -> [String] {
        let yaml = """
            name: shop
            version: 1
            platform: ios
            start: list
            ignores: [\(ignores)]
            screens:
              list: { sends: [\(sends)], once: true }
            transitions:
              - { on: command.ItemSelected, do: [{ push: list }] }
              - { on: \(on), where: { anything: 1 }, do: [{ openURL: "a:b" }] }
            """
        return Flow.review(yaml: yaml, file: "shop.yaml", messages: catalogue).findings.map(\.text)
            .filter { !$0.contains("has no field") }
    }

    @Test("A command that no service or rule handles is a warning, if the services are known")
    func unserved() {
        let all = "event.Sold, error.Broken, event.Refused"
        #expect(findings(ignores: all) == [])
        #expect(
            findings(sends: "command.ItemSelected, command.Buy, command.Help", ignores: all) == [
                "shop.yaml:7:11: warning: no service and no rule handles 'command.Help'; add one"
            ])
        let plain = MessageCatalogue(Self.catalogue.data)
        #expect(findings(sends: "command.ItemSelected, command.Help", plain) == [])
    }

    @Test(
        "A command of a rule, a button or a link that nothing handles is a warning, unless a flow answers it elsewhere")
    func sent() {
        func places(_ rules: String, _ rest: String = "", elsewhere: Set<String> = []) -> [String] {
            let yaml = """
                name: shop
                version: 1
                platform: ios
                start: list
                screens: { list: { sends: [command.Buy] } }
                transitions:
                  - { on: command.Buy, do: [\(rules)] }
                \(rest)
                """
            let catalogue = MessageCatalogue(
                Self.catalogue.data, services: Self.catalogue.services, flowCommands: elsewhere)
            return Flow.review(yaml: yaml, file: "shop.yaml", messages: catalogue).findings
                .filter { $0.code == .unhandledCommand }.map { "\($0.line ?? 0)" }
        }
        let alert =
            "present: { screen: list, style: alert, title: A, buttons: [{ id: b, title: B, sends: command.Help }] }"
        #expect(places("{ send: command.Help }") == ["7"])
        #expect(places("{ send: command.Help }", elsewhere: ["command.Help"]) == [])
        #expect(places("{ \(alert) }") == ["7"])
        #expect(places("{ openURL: \"a:b\" }", "links: [{ url: 'a://b', action: true, send: command.Help }]") == ["8"])
        #expect(places("{ send: command.Buy }") == [])
    }

    @Test("An outcome of a service that the flow uses is answered, ignored, or reported as a note")
    func outcomes() {
        let advice = "add one, or list the type under 'ignores'"
        #expect(
            findings() == [
                "shop.yaml:8:1: note: no rule answers 'error.Broken' of shop; \(advice)",
                "shop.yaml:8:1: note: no rule answers 'event.Sold' of shop; \(advice)",
                "shop.yaml:8:1: note: no rule answers 'event.Refused' of store; \(advice)",
            ])
        #expect(findings(on: "event.Refused", ignores: "event.Saved, event.Sold, error.Broken") == [])
    }

    @Test("An unnecessary 'ignores' is a warning, and only events and errors can be ignored")
    func ignored() {
        let all = "event.Sold, error.Broken, event.Refused"
        #expect(
            findings(ignores: "\(all), event.Slod") == [
                "shop.yaml:5:1: warning: no service sends 'event.Slod'; did you mean 'event.Sold'?"
            ])
        #expect(
            findings(ignores: "command.Buy").first
                == "shop.yaml:5:1: 'command.Buy' is not the type of an event or error; write event.NAME or error.NAME")
    }

    @Test("The ignored messages are part of a flow, and are written and read back")
    func written() throws {
        let flow = try Flow(
            "shop", version: 1, platform: "ios", start: "list", ignores: ["event.B", "error.A", "event.B"]
        ) { Flow.Screen("list") }
        #expect(flow.ignores == ["error.A", "event.B"])
        #expect(try Flow(yaml: flow.yaml, file: "shop.yaml") == flow)
        let other = try Flow("shop", version: 1, platform: "ios", start: "list") { Flow.Screen("list") }
        #expect(other.hash != flow.hash)
    }
}

/// Fields with any values.
private func fields(_ names: String...) -> JSONSchema {
    .object(Dictionary(uniqueKeysWithValues: names.map { ($0, .init(.any, isRequired: false)) }))
}

@Suite("Review of the commands that a flow declares")
struct CommandReviewTests {
    private func findings(_ rule: String, messages: MessageCatalogue? = nil) -> [String] {
        let yaml = """
            name: shop
            version: 1
            platform: ios
            start: list
            commands:
              command.Rated: { stars: integer, kind?: { enum: [new, old] } }
            screens:
              list: { sends: [command.Rated] }
              item: { once: true }
            transitions:
              \(rule)
            """
        return Flow.review(yaml: yaml, file: "shop.yaml", messages: messages).findings.map(\.description)
    }

    private static let push = "do: [{ push: item }]"

    @Test(
        "An unknown field or value of a declared command is reported without a contract",
        arguments: [
            ("- { on: command.Rated, where: { stars: 5, kind: new }, \(push) }", nil),
            (
                "- { on: command.Rated, where: { star: 5 }, \(push) }",
                "11:35: warning: 'command.Rated' has no field 'star'"
            ),
            (
                "- { on: command.Rated, where: { kind: odd }, \(push) }",
                "11:35: warning: 'kind' of 'command.Rated' is never"
            ),
            (
                "- { on: command.Rated, do: [{ push: { screen: item, arguments: { x: \"${data.star}\" } } }] }",
                "11:39: warning: 'command.Rated' has no field 'star'; did you mean 'stars'?"
            ),
        ] as [(String, String?)])
    func fields(rule: String, finding: String?) {
        let found = findings(rule)
        #expect(found.count == (finding == nil ? 0 : 1), "\(found)")
        if let finding { #expect(found.first?.hasPrefix("shop.yaml:\(finding)") == true, "\(found)") }
    }

    @Test(
        "A contract that describes a declared command differently is reported",
        arguments: [
            (["stars": .number, "kind": .enumeration(["old", "new"])], nil, nil),
            (["stars": .any, "kind": .string], nil, nil),
            (["stars": .string, "kind": .string], "6:20", "there 'stars' is a string, and here a number"),
            (["kind": .string], "6:20", "it has no field 'stars'"),
            (["stars": .number], "6:43", "it has no field 'kind'"),
            (["stars": .number, "kind": .any, "text": .any], "6:3", "it has a field 'text'"),
            (["stars": .number, "kind": .enumeration(["new"])], "6:43", "there 'kind' is one of \"new\""),
        ] as [([String: JSONSchema], String?, String?)])
    func contradiction(fields: [String: JSONSchema], keyPath: String?, difference: String?) {
        let found = findings(
            "- { on: command.Rated, \(Self.push) }",
            messages: MessageCatalogue(["command.Rated": .object(requiring: fields)]))
        let expected = keyPath.flatMap { keyPath in
            difference.map { difference in
                "shop.yaml:\(keyPath): warning: the contract describes 'command.Rated' differently: \(difference); correct "
                    + "one of them [contradicted-command]"
            }
        }
        #expect(found == [expected].compactMap(\.self))
    }

    @Test("A contract without a declared command is accepted, and a declared command without a rule is reported")
    func unused() {
        #expect(findings("- { on: command.Rated, \(Self.push) }", messages: MessageCatalogue([:])) == [])
        let other = findings("- { on: event.A, \(Self.push) }")
        #expect(
            other == [
                "shop.yaml:6:3: warning: no rule answers 'command.Rated'; add one, or remove the type here "
                    + "[unused-command]"
            ])
    }
}
