import FlowFiles
import Navigation
import Support
import Testing

@Suite("Declared arguments of screens")
struct ScreenArgumentTests {
    @Test("A screen declares its arguments as a command declares its fields")
    func declared() throws {
        let yaml = """
            name: tea
            version: 1
            platform: ios
            start: menu

            screens:
              menu:
              brewing:
                arguments:
                  colour?: string
                  minutes:
                    type: integer
                    minimum: 1
                    maximum: 60
              ready:
                arguments: {}

            transitions:
              - on: event.BrewBegan
                do:
                  - push:
                      screen: brewing
                      arguments:
                        minutes: "${data.minutes}"

            """
        let flow = try Flow(yaml: yaml, file: "tea.yaml")
        #expect(
            flow.screens["brewing"]?.arguments == [
                "minutes": .init(.range(.integer, atLeast: 1, atMost: 60)), "colour": .init(.string, isRequired: false),
            ])
        #expect(flow.screens["ready"]?.arguments == [:])
        #expect(flow.screens["menu"]?.arguments == nil, "an instance may have any arguments")
        #expect(try Flow(yaml: flow.yaml, file: "tea.yaml") == flow)
        let built = try Flow("tea", version: 1, platform: "ios", start: "menu") {
            Flow.Screen("menu")
            Flow.Screen(
                "brewing",
                arguments: [
                    "minutes": .init(.range(.integer, atLeast: 1, atMost: 60)),
                    "colour": .init(.string, isRequired: false),
                ])
            Flow.Screen("ready", arguments: [:])
            Flow.Transition(on: "event.BrewBegan", do: [.push(.screen("brewing", ["minutes": "${data.minutes}"]))])
        }
        #expect(built == flow)
    }

    @Test(
        "A declaration that cannot be used is reported with its place",
        arguments: [
            ("[minutes]", "the arguments of 'a' must be a mapping from names to types, such as { name: string }"),
            ("{ x: integr }", "unknown type 'integr'; did you mean 'integer'?"),
            ("{ x: { type: string, minimum: 1 } }", "'minimum' needs 'type: integer' or 'type: number'; add it"),
            ("{ x: { type: integer, maximum: many } }", "'maximum' must be a number"),
            ("{ x: string, x?: string }", "duplicate field 'x'; remove one of them"),
        ])
    func invalid(arguments: String, message: String) {
        let error = #expect(throws: FlowError.self) {
            _ = try Flow(
                yaml: """
                    name: x
                    version: 1
                    platform: ios
                    start: a
                    screens:
                      a: { arguments: \(arguments) }
                    transitions: []
                    """, file: "x.yaml")
        }
        #expect(error?.findings.first?.line == 6)
        #expect(error?.findings.first?.message == message)
    }
}
