import FlowFiles
import Navigation
import SampleFlows
import Support
import Testing

@Suite("Commands that a flow declares")
struct FlowCommandTests {
    private static let head = """
        name: shop
        version: 1
        platform: ios
        start: list
        screens: { list: }
        transitions: []

        """

    private func flow(_ commands: String) throws -> Flow {
        try Flow(yaml: Self.head + "commands: \(commands)\n", file: "shop.yaml")
    }

    @Test(
        "A field can be declared in a short form or as a JSON Schema",
        arguments: [
            ("string", .string), ("integer", .integer), ("number", .number), ("boolean", .boolean),
            ("object", .map(.any)), ("array", .array(.any)), ("[string]", .array(.string)),
            ("[[integer]]", .array(.array(.integer))), ("{}", .any), ("{ type: string }", .string),
            ("{ enum: [solo, team] }", .enumeration(["solo", "team"])),
            ("{ anyOf: [{ type: string }, { type: 'null' }] }", .nullable(.string)),
            ("{ type: object, additionalProperties: { type: number } }", .map(.number)),
            (
                "{ type: object, properties: { size: { type: integer } }, required: [size] }",
                .object(["size": .init(.integer)])
            ), ("[{ enum: [1, 2] }]", .array(.enumeration([1, 2]))),
        ] as [(String, JSONSchema)])
    func forms(text: String, schema: JSONSchema) throws {
        let flow = try flow("{ command.A: { x: \(text), note?: \(text) } }")
        let fields: [String: JSONSchema.Property] = ["x": .init(schema), "note": .init(schema, isRequired: false)]
        #expect(flow.commands == ["command.A": fields])
        #expect(try Flow(yaml: flow.yaml, file: "written.yaml") == flow, "\(flow.yaml)")
        #expect(try Flow(yaml: flow.json.description, file: "written.json") == flow)
    }

    @Test("A command without fields may be left empty, and the same flow can be built in Swift")
    func built() throws {
        let read = try flow("\n  command.Closed:\n  command.Rated: { stars: integer, text?: string }")
        let built = try Flow(
            "shop", version: 1, platform: "ios", start: "list",
            commands: [
                "command.Closed": [:],
                "command.Rated": ["stars": .init(.integer), "text": .init(.string, isRequired: false)],
            ]
        ) { Flow.Screen("list") }
        #expect(read == built && read.hash == built.hash)
        #expect(
            read.yaml.contains(
                """
                commands:
                  command.Closed: {}
                  command.Rated:
                    stars: integer
                    text?: string

                """), "\(read.yaml)")
        #expect(try flow("{}").hash == Flow(yaml: Self.head, file: "shop.yaml").hash, "old flows keep their hash")
    }

    @Test(
        "A mistake in a declared command is reported with its line and column",
        arguments: [
            ("[]", "7:11: 'commands' must be a mapping from the types of commands to their fields"),
            ("{ event.A: {} }", "7:13: 'event.A' is not the type of a command; write command.NAME"),
            ("{ command.A: string }", "7:24: the fields of 'command.A' must be a mapping from names to types, such as"),
            ("{ command.A: { x: strin } }", "7:29: unknown type 'strin'; did you mean 'string'?"),
            ("{ command.A: { x: null } }", "7:29: unknown type 'null'; known: array, boolean"),
            ("{ command.A: { x: [string, integer] } }", "7:29: the list of 'x' must have one type"),
            ("{ command.A: { x: { tpye: string } } }", "7:31: unknown key 'tpye' in the schema of 'x'; did you mean"),
            ("{ command.A: { x: { items: { type: txt } } } }", "7:46: unknown type 'txt'"),
            ("{ command.A: { x: { enum: a } } }", "7:37: 'enum' must be a list of values"),
            ("{ command.A: { x: string, x?: string } }", "7:37: duplicate field 'x'; remove one of them"),
            ("{ command.TabSelected: {} }", "7:13: Segue itself declares the fields of 'command.TabSelected'; remove"),
        ])
    func mistakes(commands: String, finding: String) {
        let findings = FlowFinding.refused { () throws(FlowError) in
            try Flow(yaml: Self.head + "commands: \(commands)\n", file: "shop.yaml")
        }
        #expect(
            findings.count == 1 && findings.first?.description.hasPrefix("shop.yaml:\(finding)") == true, "\(findings)")
    }
}
