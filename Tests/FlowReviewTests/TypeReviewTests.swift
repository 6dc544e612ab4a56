import FlowFiles
import FlowReview
import Foundation
import Navigation
import Support
import Testing

@Suite("Review of the types of data and arguments")
struct TypeReviewTests {
    private static let catalogue = MessageCatalogue([
        "command.BrewStarted": .object([
            "minutes": .init(.integer), "colour": .init(.enumeration(["red", "green"]), isRequired: false),
            "tags": .init(.array(.string), isRequired: false),
            "cup": .init(.object(requiring: ["size": .integer, "name": .string]), isRequired: false),
        ]),
        "command.Tapped": .object(["text": .init(.string), "count": .init(.integer)]),
        "command.MinutesEntered": .object(requiring: ["text": .string]),
        "event.BrewBegan": .object([
            "minutes": .init(.integer), "note": .init(.nullable(.string), isRequired: false), "ratio": .init(.number),
            "colour": .init(.enumeration(["red", "blue"])), "names": .init(.array(.integer)),
            "cup": .init(.object(requiring: ["size": .string])),
        ]),
        "event.Checked": .object(requiring: ["text": .string, "count": .integer]), "event.Refused": .any,
    ])

    /// A flow whose screen `brewing` declares its arguments. The rules follow on line 11.
    private func findings(_ rules: String, links: String = "", menu: String = "") -> [String] {
        let yaml = """
            name: tea
            version: 1
            platform: ios
            start: menu
            screens:
              menu: { sends: [command.MinutesEntered, command.Tapped]\(menu) }
              brewing: { arguments: { minutes: { type: integer, minimum: 1, maximum: 60 }, note?: string } }
              item:
              ready:
            transitions:
            \(rules.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n"))
            \(links)
            """
        return Flow.review(yaml: yaml, file: "tea.yaml", messages: Self.catalogue).findings
            .filter { $0.severity == .error || [.wrongType, .missingField, .unknownField].contains($0.code) }
            .map(\.description)
    }

    private func problem(_ action: String, on type: String = "event.BrewBegan") -> String? {
        let found = findings("- { on: \(type), do: [\(action)] }")
        #expect(found.count <= 1, "\(found)")
        return found.first
    }

    private func expect(_ found: String?, contains expected: String?) {
        guard let expected else {
            #expect(found == nil)
            return
        }
        #expect(found?.contains(expected) == true, "\(found ?? "no finding")")
    }

    @Test("A link whose text is sent to a field for whole numbers is reported with its place")
    func brewTimer() {
        let links = """
            links:
              - url: tea://brew/{minutes}
                to: { root: menu, path: [{ screen: item, arguments: { minutes: "${url.minutes}" } }] }
                send: { type: command.BrewStarted, data: { minutes: "${url.minutes}" } }
            """
        #expect(
            findings("[]", links: links).first
                == "tea.yaml:15:40: warning: 'data.minutes' of 'command.BrewStarted': expected a whole number, and "
                + "'${url.minutes}' is a string; correct it [wrong-type]")
    }

    @Test(
        "Sent data is compared with the contract",
        arguments: [
            ("{ minutes: 5 }", nil), ("{ minutes: 5, colour: red, tags: [a, b] }", nil),
            ("{ minutes: 5, colour: null }", nil), ("{ minutes: 5, cup: { size: 1, name: a } }", nil),
            ("{}", "'data.minutes' of 'command.BrewStarted': missing; expected a whole number; add it [missing-field]"),
            ("{ minutes: '5' }", "expected a whole number, found a string; correct it [wrong-type]"),
            ("{ minutes: 5, colour: rde }", "found \"rde\"; did you mean \"red\"? [wrong-type]"),
            ("{ minutes: 5, tags: [a, 1] }", "'data.tags[1]' of 'command.BrewStarted': expected a string"),
            ("{ minutes: 5, cup: { size: 1 } }", "'data.cup.name' of 'command.BrewStarted': missing"),
            ("{ minutes: 5, cup: { size: a, name: b } }", "'data.cup.size' of 'command.BrewStarted': expected a whole"),
            ("{ minutes: 5, cup: { size: 1, name: b, hue: 1 } }", "has no field 'cup.hue'"),
            ("{ minute: 5 }", "'command.BrewStarted' has no field 'minute'; did you mean 'minutes'? [unknown-field]"),
        ] as [(String, String?)])
    func data(data: String, expected: String?) {
        expect(problem("{ send: { type: command.BrewStarted, data: \(data) } }"), contains: expected)
    }

    @Test(
        "A template is compared by the type of its source",
        arguments: [
            ("minutes: '${data.minutes}'", nil), ("minutes: '${data.ratio}'", "'${data.ratio}' is a number"),
            ("minutes: '${data.note}'", "expected a whole number, and '${data.note}' is a string or null"),
            ("minutes: '${data.minutes} min'", "'${data.minutes} min' is a string"),
            ("minutes: '${data.cup.size}'", "'${data.cup.size}' is a string"), ("minutes: '${data.names.0}'", nil),
            ("minutes: 1, colour: '${data.note}'", nil),
            ("minutes: 1, colour: '${data.colour}'", "'${data.colour}' is one of \"red\", \"blue\""),
            ("minutes: 1, tags: '${data.names}'", "'${data.names}' is a list"),
            ("minutes: 1, tags: ['${data.minutes}']", "'data.tags[0]'"),
            ("minutes: 1, cup: '${data.cup}'", "'${data.cup}' is an object"),
            ("minutes: '${screens.brewing.minutes}'", nil),
            ("minutes: '${screens.brewing.note}'", "'${screens.brewing.note}' is a string"),
            ("minutes: '${arguments.minutes}'", nil), ("minutes: '${sender.minutes}'", nil),
        ] as [(String, String?)])
    func sources(data: String, expected: String?) {
        expect(problem("{ send: { type: command.BrewStarted, data: { \(data) } } }"), contains: expected)
    }

    @Test(
        "A template of the answer is compared in 'do', and the question and the actions after a rejection are compared")
    func answer() {
        let found = findings(
            """
            - on: command.Tapped
              guard:
                ask: { type: command.BrewStarted, data: { minutes: "${data.text}" } }
                accept: event.Checked
                reject: event.Refused
                deadline: 5s
                rejected: [{ send: { type: command.BrewStarted, data: { minutes: "${answer.text}" } } }]
                expired: [{ send: command.BrewStarted }]
              do:
                - send: { type: command.BrewStarted, data: { minutes: "${answer.count}" } }
                - send: { type: command.BrewStarted, data: { minutes: "${answer.text}" } }
            """)
        #expect(
            found.map { $0.split(separator: ":").dropFirst().first ?? "" } == ["13", "18", "21"], "\(found)")
    }

    @Test("The arguments of a screen that does not declare them have the types that all rules and links pass")
    func inferred() {
        let rules = """
            - { on: event.Checked, do: [{ push: { screen: item, arguments: { id: "${data.count}", text: "${data.text}" } } }] }
            - { on: event.BrewBegan, do: [{ push: { screen: item, arguments: { id: 5, text: 1 } } }] }
            - { on: event.Refused, do: [{ present: { screen: ready, style: sheet, arguments: { id: "${screens.item.id}" } } }] }
            - { on: command.Tapped, do: [{ send: { type: command.Tapped, data: { text: "${screens.ready.id}", count: 1 } } }] }
            - { on: command.MinutesEntered, do: [{ send: { type: command.Tapped, data: { text: "${screens.item.text}", count: "${screens.item.id}" } } }] }
            """
        let found = findings(rules)
        #expect(found.count == 1, "\(found)")
        #expect(found.first?.contains("tea.yaml:14:") == true)
        #expect(found.first?.contains("'${screens.ready.id}' is a whole number") == true)
    }

    @Test(
        "Arguments are compared with the declaration of the screen: constants are errors, templates are warnings",
        arguments: [
            ("push: { screen: brewing, arguments: { minutes: 5 } }", nil),
            ("push: { screen: brewing, arguments: { minutes: '${data.minutes}', note: '${data.note}' } }", nil),
            (
                "push: brewing",
                "'arguments.minutes' of screen 'brewing': missing; expected a whole number from 1 to 60; add it"
            ),
            ("replacePath: [menu, brewing]", "'arguments.minutes' of screen 'brewing': missing"),
            ("setRoot: { screen: menu, container: { tabs: [brewing] } }", "'arguments.minutes' of screen 'brewing'"),
            ("present: { screen: brewing, style: sheet }", "missing"),
            ("show: { screen: brewing, column: a }", "missing"),
            (
                "push: { screen: brewing, arguments: { minutes: 61 } }",
                "'arguments.minutes' of screen 'brewing': expected a whole number from 1 to 60, found 61; correct it"
            ),
            ("push: { screen: brewing, arguments: { minutes: '5' } }", "expected a whole number, found a string"),
            ("push: { screen: brewing, arguments: { minuts: 5 } }", "unknown field; did you mean 'minutes'?"),
            (
                "push: { screen: brewing, arguments: { minutes: '${data.ratio}' } }",
                "warning: 'arguments.minutes' of screen 'brewing': expected a whole number from 1 to 60, and "
                    + "'${data.ratio}' is a number; correct it [wrong-type]"
            ),
        ] as [(String, String?)])
    func arguments(action: String, expected: String?) {
        let found = findings("- { on: event.BrewBegan, do: [\(action)] }")
        expect(found.first, contains: expected)
    }

    @Test("The arguments that a link passes are compared with the declaration of the screen")
    func links() {
        func link(_ arguments: String) -> [String] {
            findings(
                "[]",
                links:
                    "links: [{ url: 'tea://item/{x}', to: { root: menu, path: [{ screen: brewing, arguments: \(arguments) }] } }]"
            )
        }
        #expect(link("{ minutes: 5, note: '${url.x}' }") == [])
        #expect(link("{ minutes: 0, note: '${url.x}' }").first?.contains("found 0; correct it") == true)
        #expect(link("{ note: '${url.x}' }").first?.contains("missing") == true)
        let tabs = "container: { tabs: [{ name: t, screen: brewing, arguments: { minutes: 5, note: '${url.x}' } }] }"
        #expect(
            findings("[]", links: "links: [{ url: 'tea://item/{x}', to: { root: { screen: menu, \(tabs) }, tab: t } }]")
                == [])
        #expect(link("{ minutes: '${url.x}' }").first?.contains("not '{x}'; write '{x:integer}'") == true)
    }

    @Test("A start screen with a required argument is an error, since a session begins without arguments")
    func start() {
        #expect(findings("[]", menu: ", arguments: { x?: string }") == [])
        #expect(
            findings("[]", menu: ", arguments: { x: string }").first
                == "tea.yaml:6:73: the start screen has no arguments; declare 'x?'")
    }

    @Test("A view cannot request a screen with arguments that it does not have")
    func viewRequests() throws {
        let flow = try Flow("tea", version: 1, platform: "ios", start: "menu", requests: [.push]) {
            Flow.Screen("menu")
            Flow.Screen("brewing", arguments: ["minutes": .init(.integer)])
        }
        var machine = Machine(flow: flow)
        func request(_ arguments: JSONValue) -> [Machine.Effect] {
            let action: JSONValue = ["push": ["screen": "brewing", "arguments": arguments]]
            return machine.handle(
                .init(id: "m\(machine.revision)", type: "command.NavigationRequested", data: ["action": action]))
        }
        guard case .messageDiscarded(_, let reason)? = request(["minutes": "${data.x}"]).first else {
            Issue.record("the request was not discarded")
            return
        }
        #expect(reason.contains("expected a whole number, found a string"))
        #expect(request(["minutes": 5]) == [])
        #expect(machine.state.top.arguments == ["minutes": 5])
    }
}
