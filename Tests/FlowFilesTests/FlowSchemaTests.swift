import FlowFiles
import Foundation
import Navigation
import SampleFlows
import Support
import TestSupport
import Testing

@Suite("JSON Schema of flow files")
struct FlowSchemaTests {
    @Test(
        "The schema accepts every flow of the project, as read and as exported",
        .enabled(if: FlowSchema.hasValidator, "scripts/python, which make test runs, installs the validator"))
    func shippedFlows() async throws {
        let built = try [
            FocusPlayerFlow.ios(), FocusPlayerFlow.mac(), SignUpFlow.built(), GuardFlow.flow(), PlaygroundFlow.flow(),
        ]
        let texts = try ShippedFlows.texts() + [SignUpFlow.yaml] + built.map(\.json.description) + built.map(\.yaml)
        #expect(texts.count >= 8)
        for (text, complaints) in try await zip(texts, FlowSchema.flow.complaints(about: texts)) {
            #expect(complaints.isEmpty, "\(text)")
        }
    }

    @Test("The first line of each shipped flow names the schema")
    func firstLine() throws {
        for text in try ShippedFlows.texts() {
            let line = text.prefix { $0 != "\n" }
            #expect(line.hasPrefix("# yaml-language-server: $schema=") && line.hasSuffix("flow.schema.json"))
        }
    }

    @Test(
        "The schema accepts what the reader accepts",
        .enabled(if: FlowSchema.hasValidator, "scripts/python, which make test runs, installs the validator"))
    func good() async throws {
        let texts = SchemaExamples.good
        for (text, complaints) in try await zip(texts, FlowSchema.flow.complaints(about: texts)) {
            #expect(complaints.isEmpty, "\(text)")
            // Only the reader finds names that are not declared, here those of child flows and tabs.
            #expect(
                problems(with: text).allSatisfy { $0.contains("unknown child flow") || $0.contains("tab") }, "\(text)")
        }
    }

    @Test(
        "The schema refuses what the reader refuses, at the same place",
        .enabled(if: FlowSchema.hasValidator, "scripts/python, which make test runs, installs the validator"))
    func bad() async throws {
        let examples = SchemaExamples.bad
        for (example, complaints) in try await zip(examples, FlowSchema.flow.complaints(about: examples.map(\.yaml))) {
            #expect(complaints.contains { $0.hasPrefix(example.path) }, "\(example): \(complaints)")
            #expect(!problems(with: example.yaml).isEmpty, "\(example)")
        }
    }

    private func problems(with yaml: String) -> [String] {
        FlowFinding.refused { () throws(FlowError) in try Flow(yaml: yaml, file: "x.yaml") }.map(\.message)
    }
}

/// The test gets the known keys and words from the reader's findings, which list them if a key or a word is unknown.
@Suite("Keys and words of the JSON Schema")
struct SchemaKeysTests {
    private static func findings(_ yaml: String) -> [String] {
        FlowFinding.refused { () throws(FlowError) in try Flow(yaml: yaml, file: "x.yaml") }.map(\.message)
    }

    /// The keys or words that the reader accepts at the only `?` of a file.
    private func known(_ yaml: String) -> [String] {
        let lists = Self.findings(yaml).filter { $0.contains("'?'") }.compactMap {
            $0.split(separator: "; known: ").last
        }
        return lists.first.map { $0.split(separator: ", ").map(String.init) } ?? []
    }

    private func definition(_ name: String) throws -> JSONValue {
        let schema = try FlowSchema.flow.read()
        return try #require(name.isEmpty ? schema : schema.value(at: "$defs.\(name)"))
    }

    private func keys(_ name: String) throws -> Set<String> {
        Set(try definition(name).value(at: "properties")?.objectValue?.keys.map { $0 } ?? [])
    }

    @Test(
        "The schema has the keys of the reader, and requires the same ones",
        arguments: [
            ("", "'?': 1"), ("screen", SchemaExamples.file("screens: { a: { '?': 1 } }")),
            ("fieldSchema", SchemaExamples.file("commands: { command.A: { x: { '?': 1 } } }")),
            ("childFlow", SchemaExamples.file("flows: { f: { '?': 1 } }")),
            ("transition", SchemaExamples.file("transitions: [{ '?': 1 }]")),
            ("step", SchemaExamples.file("steps: [{ '?': 1 }]")),
            ("conditionMapping", SchemaExamples.rule("do: [pop], when: { '?': 1 }")),
            ("questions", SchemaExamples.rule("do: [pop], where: { a: { '?': 1 } }")),
            ("screenWithConditions", SchemaExamples.rule("do: [pop], when: { top: { '?': 1 } }")),
            ("updatedScreen", SchemaExamples.action("{ update: { '?': 1 } }")),
            ("guard", SchemaExamples.rule("do: [pop], guard: { '?': 1 }")),
            (
                "sentCommand",
                SchemaExamples.rule("do: [pop], guard: { accept: event.B, deadline: 5s, ask: { '?': 1 } }")
            ),
            ("answerWithFields", SchemaExamples.rule("do: [pop], guard: { accept: { '?': 1 }, deadline: 5s }")),
            ("screenWithArguments", SchemaExamples.action("{ replacePath: [{ '?': 1 }] }")),
            ("root", SchemaExamples.action("{ setRoot: { '?': 1 } }")),
            ("tabs", SchemaExamples.action("{ setRoot: { screen: a, container: { '?': 1 } } }")),
            ("tab", SchemaExamples.action("{ setRoot: { screen: a, container: { tabs: [{ '?': 1 }] } } }")),
            ("pushedScreen", SchemaExamples.action("{ push: { '?': 1 } }")),
            ("pushedFlow", SchemaExamples.action("{ push: { flow: f, '?': 1 } }")),
            ("popped", SchemaExamples.action("{ pop: { '?': 1 } }")),
            ("poppedTo", SchemaExamples.action("{ popTo: { '?': 1 } }")),
            ("shown", SchemaExamples.action("{ show: { '?': 1 } }")),
            ("presentedScreen", SchemaExamples.action("{ present: { '?': 1 } }")),
            ("presentedFlow", SchemaExamples.action("{ present: { flow: f, '?': 1 } }")),
            ("sentCommand", SchemaExamples.action("{ send: { '?': 1 } }")),
            ("button", SchemaExamples.action("{ present: { screen: a, style: alert, buttons: [{ '?': 1 }] } }")),
        ])
    func keys(name: String, yaml: String) throws {
        #expect(try Set(known(yaml)) == keys(name))
        let lacking = Self.findings(yaml).compactMap { finding in
            finding.split(separator: " lacks '").dropFirst().first?.split(separator: "'").first.map(String.init)
        }
        // A flow with steps may leave out screens and transitions.
        let required = try ["required", "else.required"].flatMap { list in
            try definition(name).value(at: list)?.arrayValue?.compactMap(\.stringValue) ?? []
        }
        #expect(Set(lacking) == Set(required).subtracting(yaml.contains("flow: f") ? ["flow"] : []))
    }

    @Test(
        "The schema has the reader's keys of deep links",
        arguments: [
            ("link", "'?': 1"), ("target", "url: 'x://y', to: { '?': 1 }"),
            ("target", "url: 'x://y', to: { path: a }, when: { root: a }, otherwise: { '?': 1 }"),
            ("over", "url: 'x://y', to: { path: a }, over: { '?': 1 }"),
            ("root", "url: 'x://y', to: { root: { '?': 1 } }"),
            ("presentedScreen", "url: 'x://y', to: { present: { '?': 1 } }"),
            ("sentCommand", "url: 'x://y', to: { path: a }, send: { '?': 1 }"),
            ("screenWithArguments", "url: 'x://y', to: { path: { '?': 1 } }"),
            ("column", "url: 'x://y', to: { columns: { c: { '?': 1 } } }"),
        ])
    func linkKeys(name: String, link: String) throws {
        #expect(try Set(known(SchemaExamples.file("links: [{ \(link) }]"))) == keys(name))
    }

    @Test(
        "The schema has the reader's words for each choice",
        arguments: [
            ("transition.properties.origin.enum", SchemaExamples.rule("do: [pop], origin: '?'")),
            ("meanwhile.enum", SchemaExamples.rule("do: [pop], guard: { meanwhile: '?' }")),
            ("style.enum", SchemaExamples.file("presentations: ['?']")),
            ("fieldType.enum", SchemaExamples.file("commands: { command.A: { x: '?' } }")),
            ("style.enum", SchemaExamples.action("{ present: { screen: a, style: '?' } }")),
            (
                "presentedScreen.properties.detents.items.enum",
                SchemaExamples.action("{ present: { screen: a, style: sheet, detents: ['?'] } }")
            ),
            (
                "button.properties.role.enum",
                SchemaExamples.action(
                    "{ present: { screen: a, style: alert, buttons: [{ id: a, title: a, role: '?' }] } }")
            ),
        ])
    func words(path: String, yaml: String) throws {
        let words = try FlowSchema.flow.read().value(at: "$defs.\(path)")?.arrayValue?.compactMap(\.stringValue)
        #expect(Set(words ?? []) == Set(known(yaml)))
        #expect(words?.isEmpty == false)
    }

    @Test("The schema has the reader's actions, with and without values, and those that views may request")
    func actions() throws {
        let requestable = Set(Flow.ActionName.allCases.map(\.rawValue))
        let names = requestable.union(["popTo", "ifPossible"])
        let bare = try definition("bareAction").value(at: "enum")?.arrayValue?.compactMap(\.stringValue) ?? []
        #expect(try Set(bare).union(keys("actionWithArguments")) == names)
        #expect(Set(known(SchemaExamples.action("{ '?': 1 }"))) == names)
        for name in names {
            #expect(
                bare.contains(name) == Self.findings(SchemaExamples.action(name)).allSatisfy { $0.contains("ends a") })
        }
        let requests = try FlowSchema.flow.read().value(at: "properties.requests.items.enum")?.arrayValue ?? []
        #expect(Set(requests.compactMap(\.stringValue)) == requestable)
    }

    @Test("The schema has the acts of the user and the ends of child flows")
    func unpublished() throws {
        let acts = try definition("userAct").value(at: "enum")?.arrayValue?.compactMap(\.stringValue) ?? []
        #expect(acts == Flow.UserAct.allCases.map(\.rawValue))
        let endings = try definition("ending").value(at: "enum")?.arrayValue?.compactMap(\.stringValue) ?? []
        #expect(endings == Flow.Ending.allCases.map(\.rawValue))
    }

    @Test("Every key and every listed word of the schemas has a description", arguments: FlowSchema.allCases)
    func descriptions(schema: FlowSchema) throws {
        let flow = try FlowSchema.flow.read().value(at: "$defs")?.objectValue ?? [:]
        let root = try schema.read()
        let own = try #require(root.value(at: "$defs")?.objectValue)
        let definitions = flow.merging(own) { _, own in own }
        for (name, definition) in own.merging(["": root], uniquingKeysWith: { own, _ in own }) {
            for (key, member) in definition.value(at: "properties")?.objectValue ?? [:] {
                let other = member.value(at: "$ref")?.stringValue?.split(separator: "/").last.map(String.init) ?? ""
                let description = member.value(at: "description") ?? definitions[other]?.value(at: "description")
                #expect(description?.stringValue?.isEmpty == false, "\(name).\(key)")
            }
            let descriptions = definition.value(at: "enumDescriptions")?.arrayValue
            #expect(
                descriptions == nil || descriptions?.count == definition.value(at: "enum")?.arrayValue?.count, "\(name)"
            )
        }
    }
}

/// The JSON Schemas that editors use, and the validator of the tests.
enum FlowSchema: String, CaseIterable {
    case flow = "flow.schema.json"
    case scenario = "scenario.schema.json"

    private static let folder = Repository.path("config/flows")
    private static let python = Repository.path(".build/venv/bin/python")
    /// The validator is a Python package, which `make test` installs if possible.
    static let hasValidator = FileManager.default.isExecutableFile(atPath: python)

    private static let validator = """
        import json, pathlib, sys
        from jsonschema import Draft202012Validator
        from referencing import Registry, Resource
        from ruamel.yaml import YAML
        files = pathlib.Path(sys.argv[1]).glob("*.schema.json")
        schemas = {file.name: json.loads(file.read_text()) for file in files}
        registry = Registry().with_resources((name, Resource.from_contents(schema)) for name, schema in schemas.items())
        schema = schemas[sys.argv[2]]
        Draft202012Validator.check_schema(schema)
        validate = Draft202012Validator(schema, registry=registry).iter_errors
        texts = json.load(sys.stdin)
        print(json.dumps([[error.json_path for error in validate(YAML(typ="safe").load(text))] for text in texts]))
        """

    func read() throws -> JSONValue {
        try JSONDecoder().decode(JSONValue.self, from: Data(contentsOf: URL(filePath: "\(Self.folder)/\(rawValue)")))
    }

    /// Validates files against the schema.
    ///
    /// - Parameter texts: The contents of the files, in YAML.
    /// - Returns: The JSON paths of the errors in each file.
    func complaints(about texts: [String]) async throws -> [[String]] {
        let input = String(decoding: try JSONEncoder().encode(texts), as: UTF8.self)
        let program = TestProgram(Self.python, ["-c", Self.validator, Self.folder, rawValue])
        return try JSONDecoder().decode([[String]].self, from: Data(try await program.output(input: input).utf8))
    }
}

/// Flow files that the schema must accept or refuse.
enum SchemaExamples {
    private static let head = """
        name: x
        version: 1
        platform: any
        start: a

        """

    private static let guardOfStep = "{ accept: event.B, deadline: 5s }"
    private static let steps = "{ screen: b, where: { x: 1, answer.y: [1, 2] } }, { screen: c }"

    static func file(_ parts: String...) -> String {
        let isGiven = { (key: String) in parts.contains { $0.hasPrefix("\(key):") } }
        return head + (isGiven("screens") ? "" : "screens: { a: }\n")
            + (isGiven("transitions") ? "" : "transitions: []\n") + parts.map { $0 + "\n" }.joined()
    }

    static func rule(_ rest: String) -> String { file("transitions: [{ on: event.A, \(rest) }]") }

    static func action(_ action: String) -> String { rule("do: [\(action)]") }

    /// Files with a valid structure. Some of them name child flows or tabs that they do not declare.
    static let good: [String] =
        [
            head
                + "steps: [{ screen: a, title: A, next: command.N, sends: [command.O], guard: \(guardOfStep), steps: [\(steps)] }]\n",
            file("steps: [{ screen: b, next: command.N, steps: [{ screen: c }] }]"),
            file("screens: { a: { title: 5, sends: command.A }, b: { sends: [command.A, command.B.C] }, c: {} }"),
            file("screens: { a: { once: true, back: false }, b: { gate: true } }"),
            file("presentations: [sheet, window]", "requests: [push, finish]"), file("ignores: [event.A, error.B]"),
            file(
                "commands: { command.A: , command.B: { x: string, 'y?': [[integer]], z: { enum: [a, 1] }, n: {} } }"),
            file(
                "commands: { command.A: { x: { anyOf: [{ type: array, items: { type: string } }, { type: 'null' }] } } }"
            ),
            file("flows: { f: { start: a, transitions: [{ on: event.A, do: [finish: { a: 1 }] }] } }"),
            file("transitions: [{ on: flow.finished, where: { flow: [f] }, do: [pop] }]", "flows: { f: \(child) }"),
            file("transitions: [{ on: user.wentBack, where: { screen: [a] }, do: [pop] }]"),
            file("transitions: [{ after: 3s, when: { top: a }, do: [pop] }]"),
            file("transitions: [{ on: user.tappedTab, do: [popToRoot] }]"),
            rule("origin: own, where: { a: 1, b.c: [1, x, null], d: true, e: null }, do: [pop]"),
            rule("where: { a: { not: x, exists: true, atLeast: 1.5, atMost: 2, anyOf: [a, { b: 1 }] } }, do: [pop]"),
            rule("when: { root: a, top: [a, { screen: a, arguments: { x: 1 } }], path: [], shown: a }, do: [pop]"),
            rule("unless: { presented: [], path: { screen: a } }, do: [pop]"),
            rule("when: [{ path: a }, { path: { screen: a, arguments: { x: 1 } } }], unless: [{ top: a }], do: [pop]"),
            rule(
                """
                when: { top: { screen: a, arguments: { x: [1, 2], y: { atLeast: 3, not: 4 }, z: { exists: false },
                o: { a: 1 }, n: null } } }, do: [pop]
                """),
            rule("when: { sender: a }, unless: { sender: [] }, do: [{ pop: sender }, { dismiss: sender }]"),
            rule("guard: { accept: event.B, deadline: 5s }, do: [pop]"),
            file("transitions: [{ on: [event.A, flow.finished], do: [pop] }]"),
            rule("guard: { accept: [event.B, error.C], reject: { on: [event.D, event.E] }, deadline: 5s }, do: [pop]"),
            rule(
                """
                guard: { ask: { type: command.B, data: { a: [1] } }, accept: { on: document.B, where: { a: 1 } },
                reject: error.C, deadline: 1500ms, meanwhile: queue, rejected: [pop], expired: [{ push: a }] }, do: [pop]
                """),
        ] + actions.map(action) + links.map { file("links: [{ \($0) }]") }

    private static let links = [
        "url: 'x://y/{a:integer}', to: { root: { screen: a, arguments: { b: '${url.a}' } } }, action: false",
        "url: 'x://y', when: { root: a }, to: { path: a }, otherwise: { root: a }, park: 5s, over: { sheet: wait }",
        "url: 'x://y/{a?}', to: { root: { screen: a, arguments: { b: '${url.a:-c}' } } }, send: command.A",
        "url: 'x://z', redirect: 'x://z', when: { root: a }", "url: 'x://y', action: true, send: [command.A]",
    ]

    private static let child = "{ start: a, transitions: [] }"

    private static let actions = [
        "pop, back, popToRoot, dismiss, dismissAll",
        "{ setRoot: { screen: a, container: { tabs: [a], history: true } } }", "{ setRoot: a }",
        "{ setRoot: { screen: a, container: split } }",
        "{ setRoot: { screen: a, arguments: { x: y }, container: { tabs: [a, { name: b, screen: a }] } } }",
        "{ push: a }, { push: { screen: a, arguments: {} } }", "{ pop: 2 }, { pop: a }, { pop: { count: 2 } }",
        "{ show: { screen: a, column: c } }, { push: { screen: a, column: c } }, { pop: { to: a, column: c } }",
        "{ push: { screen: a, on: sender } }, { push: { flow: f, on: sender } }, { pop: { to: sender } }",
        "{ show: { screen: a, column: c } }, { popTo: a }, { popTo: { screen: a, column: c } }",
        "{ show: { screen: a, column: c } }, { pop: { from: a } }, { pop: { from: a, column: c } }",
        "{ goTo: a }, { goTo: { screen: a, arguments: { id: 1 } } }",
        "{ ifPossible: dismiss }, { ifPossible: { popTo: a } }",
        "{ replacePath: [a, { screen: a }] }, { replacePath: a }, { replacePath: [] }", "{ dismiss: a }",
        "{ present: { screen: a, style: sheet, detents: [medium, large], dragIndicator: true } }",
        "{ present: { screen: a, style: window, interactiveDismissal: false } }",
        "{ present: { screen: a, style: dialog, buttons: [{ id: a, title: A, role: cancel, sends: command.A }] } }",
        "{ present: { screen: a, style: alert, title: A, message: M, buttons: [{ id: a, title: A }] } }",
        "{ update: { screen: a, arguments: { x: 1 } } }",
        """
        { present: { screen: a, style: alert, title: A, buttons: [{ id: a, title: A, sends: { type: command.A, data:
        { x: '${data.x}' } }, do: [{ push: a }, dismiss] }] } }
        """,
        "{ openURL: 'x:' }, { send: command.A }, { send: { type: command.A, data: { a: '${data.a}' } } }",
    ]

    /// Files that both the reader and the schema refuse, with the place that the schema reports.
    static let bad: [(yaml: String, path: String)] =
        [
            ("name: x", "$"), (file("screen: { a: }"), "$"), (file("screens: []"), "$.screens"),
            (file("screens: { a: { sends: event.A } }"), "$.screens.a.sends"),
            (file("screens: { a: { color: red } }"), "$.screens.a"),
            (file("presentations: [shet]"), "$.presentations[0]"), (file("requests: [jump]"), "$.requests[0]"),
            (file("ignores: [command.A]"), "$.ignores[0]"),
            (file("commands: { event.A: {} }"), "$.commands"),
            (file("commands: { command.A: string }"), "$.commands['command.A']"),
            (file("commands: { command.A: { x: text } }"), "$.commands['command.A'].x"),
            (file("commands: { command.A: { x: [string, string] } }"), "$.commands['command.A'].x"),
            (file("commands: { command.A: { x: { typ: string } } }"), "$.commands['command.A'].x"),
            (file("flows: { f: { start: a } }"), "$.flows.f"), (file("transitions: [{ on: event.A }]"), rules),
            (file("transitions: [{ on: Hello, do: [pop] }]"), "\(rules).on"), (rule("do: []"), "\(rules).do"),
            (file("transitions: [{ on: [], do: [pop] }]"), "\(rules).on"),
            (file("transitions: [{ on: [event.A, Hello], do: [pop] }]"), "\(rules).on"),
            (file("transitions: [{ on: user.left, do: [pop] }]"), "\(rules).on"),
            (file("transitions: [{ after: 3, when: { top: a }, do: [pop] }]"), "\(rules).after"),
            (file("transitions: [{ after: 3s, on: event.A, when: { top: a }, do: [pop] }]"), rules),
            (rule("do: [pop], wehn: {}"), rules), (rule("do: [pop], origin: mine"), "\(rules).origin"),
            (rule("do: [pop], where: { a: {} }"), "\(rules).where.a"),
            (rule("do: [pop], where: { a: [] }"), "\(rules).where.a"),
            (rule("do: [pop], where: { a: { no: 1 } }"), "\(rules).where.a"),
            (rule("do: [pop], when: { root: [] }"), "\(rules).when.root"),
            (rule("do: [pop], when: { toop: a }"), "\(rules).when"), (rule("do: [pop], when: []"), "\(rules).when"),
            (rule("do: [pop], unless: [{ path: a }, { root: [] }]"), "\(rules).unless[1].root"),
            (rule("do: [pop], when: { top: { screen: a, arguments: { x: [] } } }"), "\(rules).when.top"),
            (rule("do: [pop], when: { top: { screen: a, arguments: { x: { atLeast: b } } } }"), "\(rules).when.top"),
            (rule("do: [pop], guard: { accept: event.A }"), "\(rules).guard"),
            (rule("do: [pop], guard: { accept: command.A, deadline: 5s }"), "\(rules).guard.accept"),
            (rule("do: [pop], guard: { accept: [], deadline: 5s }"), "\(rules).guard.accept"),
            (rule("do: [pop], guard: { accept: event.A, deadline: 5 }"), "\(rules).guard.deadline"),
            (rule("do: [pop], guard: { accept: event.A, deadline: 5s, ask: event.B }"), "\(rules).guard.ask"),
        ]
        + badActions.map { (action($0), "\(rules).do[0]") }
        + badLinks.map { (file("links: [{ \($0) }]"), "$.links[0]") }

    private static let badLinks = [
        "url: 'x://y'", "to: { root: a }", "url: 'x://y', send: command.A", "url: 'x://y', action: true",
        "url: 'x://y', action: 1, send: command.A", "url: 'x://y', action: true, send: command.A, park: 5s",
        "url: 'x://y', action: true, send: command.A, to: { root: a }",
        "url: 'x://y', to: { root: a }, redirect: 'x://y'",
        "url: 'x://y', redirect: 'x://y', send: command.A", "url: 'x://y', to: { root: a }, otherwise: { root: a }",
        "url: 'x://y', redirect: 'x://y', over: { sheet: wait }",
    ]

    private static let rules = "$.transitions[0]"

    private static let badActions = [
        "jump", "push", "{ popToRoot: 2 }", "{ push: { screen: a, flow: f } }", "{ pop: 0 }",
        "{ push: { screen: a, on: a } }", "{ push: { screen: a, on: sender, column: c } }",
        "{ pop: { count: 1, to: a } }", "{ pop: { from: a, to: a } }", "{ popTo: 2 }", "{ popTo: { column: c } }",
        "{ ifPossible: jump }", "{ goTo: { arguments: {} } }",
        "{ setRoot: { screen: a, container: grid } }", "{ show: a }",
        "{ setRoot: { screen: a, container: { tabs: [] } } }", "{ present: { screen: a } }",
        "{ present: { screen: a, style: alert, buttons: [{ id: a, title: A }] } }",
        "{ present: { screen: a, style: dialog } }", "{ present: { screen: a, style: popover, detents: [large] } }",
        "{ present: { screen: a, style: sheet, title: x } }",
        "{ present: { screen: a, style: fullScreen, interactiveDismissal: false } }",
        "{ present: { screen: a, style: dialog, buttons: [{ id: a }] } }", "{ send: event.A }",
        "{ update: a }", "{ update: { screen: a } }",
        "{ present: { screen: a, style: dialog, buttons: [{ id: a, title: A, sends: event.A }] } }",
        "{ present: { screen: a, style: dialog, buttons: [{ id: a, title: A, do: [jump] }] } }",
        "{ send: { data: {} } }",
    ]
}
