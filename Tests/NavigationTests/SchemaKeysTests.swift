import Navigation
import Testing

/// The reader says which keys and words it knows when it meets one that it does not, so it is asked for them here.
@Suite("The JSON Schema has the keys and words that the reader of flows knows, and no others")
struct SchemaKeysTests {
    private static func findings(_ yaml: String) -> [String] {
        FlowFinding.refused { () throws(FlowError) in try Flow(yaml: yaml, file: "x.yaml") }.map(\.message)
    }

    /// What the reader knows in place of the only `?` of a file.
    private func known(_ yaml: String) -> [String] {
        let lists = Self.findings(yaml).filter { $0.contains("'?'") }.compactMap {
            $0.split(separator: "; known are ").last
        }
        return lists.first.map { $0.split(separator: ", ").map(String.init) } ?? []
    }

    private func definition(_ name: String) throws -> JSONValue {
        let schema = try FlowSchema.read()
        return try #require(name.isEmpty ? schema : schema.value(at: "$defs.\(name)"))
    }

    private func keys(_ name: String) throws -> Set<String> {
        Set(try definition(name).value(at: "properties")?.objectValue?.keys.map { $0 } ?? [])
    }

    @Test(
        "Keys, and which of them must be there",
        arguments: [
            ("", "'?': 1"), ("screen", SchemaExamples.file("screens: { a: { '?': 1 } }")),
            ("childFlow", SchemaExamples.file("flows: { f: { '?': 1 } }")),
            ("transition", SchemaExamples.file("transitions: [{ '?': 1 }]")),
            ("step", SchemaExamples.file("steps: [{ '?': 1 }]")),
            ("conditions", SchemaExamples.rule("do: [pop], when: { '?': 1 }")),
            ("questions", SchemaExamples.rule("do: [pop], where: { a: { '?': 1 } }")),
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
        // Where there are steps, screens and transitions may be left out.
        let required = try ["required", "else.required"].flatMap { list in
            try definition(name).value(at: list)?.arrayValue?.compactMap(\.stringValue) ?? []
        }
        #expect(Set(lacking) == Set(required).subtracting(yaml.contains("flow: f") ? ["flow"] : []))
    }

    @Test(
        "Keys of deep links",
        arguments: [
            ("link", "'?': 1"), ("target", "url: 'x://y', to: { '?': 1 }"),
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
        "Words of which one is to be chosen",
        arguments: [
            ("transition.properties.origin.enum", SchemaExamples.rule("do: [pop], origin: '?'")),
            ("guard.properties.meanwhile.enum", SchemaExamples.rule("do: [pop], guard: { meanwhile: '?' }")),
            ("style.enum", SchemaExamples.file("presentations: ['?']")),
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
        let words = try FlowSchema.read().value(at: "$defs.\(path)")?.arrayValue?.compactMap(\.stringValue)
        #expect(Set(words ?? []) == Set(known(yaml)))
        #expect(words?.isEmpty == false)
    }

    @Test("Actions, with something or without, and those that views may ask for")
    func actions() throws {
        let names = Set(Flow.ActionName.allCases.map(\.rawValue))
        let bare = try definition("action").value(at: "anyOf.0.enum")?.arrayValue?.compactMap(\.stringValue) ?? []
        #expect(try Set(bare).union(keys("actionWithArguments")) == names)
        #expect(Set(known(SchemaExamples.action("{ '?': 1 }"))) == names)
        for name in names {
            #expect(
                bare.contains(name) == Self.findings(SchemaExamples.action(name)).allSatisfy { $0.contains("ends a") })
        }
        let requests = try FlowSchema.read().value(at: "properties.requests.items.enum")?.arrayValue ?? []
        #expect(Set(requests.compactMap(\.stringValue)) == names)
    }

    @Test("Everything that can be written has a description for editors to show")
    func descriptions() throws {
        let definitions = try #require(definition("").value(at: "$defs")?.objectValue)
        for (name, definition) in definitions.merging(["": try definition("")], uniquingKeysWith: { own, _ in own }) {
            for (key, member) in definition.value(at: "properties")?.objectValue ?? [:] {
                let other = member.value(at: "$ref")?.stringValue?.split(separator: "/").last.map(String.init) ?? ""
                let own = member.value(at: "description") ?? definitions[other]?.value(at: "description")
                #expect(own?.stringValue?.isEmpty == false, "\(name).\(key)")
            }
        }
    }
}
