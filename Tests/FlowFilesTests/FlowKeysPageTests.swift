import FlowFiles
import Foundation
import Navigation
import Support
import TestSupport
import Testing

@Suite("docs/flow-keys.md")
struct FlowKeysPageTests {
    @Test("The page lists the keys and words of the JSON Schemas, the templates, and the codes of findings")
    func page() throws {
        let text = try FlowKeysPage().text
        #expect(try GeneratedPage("docs/flow-keys.md", text).isWritten(), "'make pages' writes it anew")
        #expect(text.matches(of: #/(?m)^.*\| +\|$/#).map(\.output) == [], "a key, word or code has no sentence")
    }

    @Test("Each link here and in docs/flows.md leads to a section, and no two sections have the same title")
    func links() throws {
        let page = try FlowKeysPage().text
        let anchors = page.matches(of: #/\n##+ (.*)\n/#).map { FlowKeysPage.anchor(of: String($0.1)) }
        #expect(Set(anchors).count == anchors.count)
        let links = Set(page.matches(of: #/\]\(#([^)]*)\)/#).map { String($0.1) })
        #expect(links.subtracting(anchors) == [] && links.count > 40)
        let flows = try String(contentsOfFile: Repository.path("docs/flows.md"), encoding: .utf8)
        let others = Set(flows.matches(of: #/\(flow-keys\.md#([^)]*)\)/#).map { String($0.1) })
        #expect(others.subtracting(anchors) == [] && others.count > 10)
    }
}

/// The page of all keys and words of flow files and scenarios.
struct FlowKeysPage {
    private let flow: SchemaPage
    private let scenario: SchemaPage

    init() throws {
        flow = try SchemaPage("config/flows/flow.schema.json")
        scenario = try SchemaPage("config/flows/scenario.schema.json", beside: flow)
    }

    static func anchor(of title: String) -> String {
        title.lowercased().replacingOccurrences(of: " ", with: "-").replacingOccurrences(of: "`", with: "")
    }

    var text: String {
        let parts = [
            ("Flow files", flow.sections), ("Scenarios", scenario.sections),
            ("Other", [("Templates", templates), ("Codes of `segue flow check`", codes)]),
        ]
        let contents = parts.map { name, sections in
            let links = sections.map { "[\($0.title)](#\(Self.anchor(of: $0.title)))" }
            return "- **\(name)**: \(links.joined(separator: ", "))"
        }
        let sections = parts.flatMap(\.1).map { "## \($0.title)\n\n\($0.text)\n" }
        return """
            # Keys of flow files

            The tests write this page from `config/flows/flow.schema.json`, `config/flows/scenario.schema.json` and the code.
            [Flows](flows.md) explains how a flow works. A key with an asterisk is required.

            \(contents.joined(separator: "\n"))

            \(sections.joined(separator: "\n"))
            """
    }

    private var templates: String {
        let scopes = Template.Scope.allCases.map { ("`${\($0.form)}`", $0.explanation) }
        let others = [
            ("`${url.NAME}`", "In a link, the value of a placeholder of its URL."),
            (
                "`${PATH:-TEXT}`",
                "As `${PATH}`; TEXT if that is absent, null or an empty string. A number or a boolean if TEXT is one in JSON."
            ),
            ("`${PATH?}`", "As `${PATH}`; without a value, the key with this template is left out."),
            ("`$${`", "The text `${`."),
        ]
        return """
            Strings in arguments, data, results, URLs, and the titles, messages and buttons of alerts may contain templates.
            Arguments are those before the step. A string that is only one template keeps the type of the value. In a URL
            with other text, values are percent-encoded. A template that is the whole value of an optional argument or
            field needs no `?`. If any other template has no value, the step fails.

            \(GeneratedPage.table(["Template", "Value"], (scopes + others).map { [$0.0, $0.1] }))
            """
    }

    private var codes: String {
        let rows = FlowFinding.Code.allCases.map { code in
            ["`\(code.rawValue)`", code.explanation + (code.needsMessages ? " Needs the app's messages." : "")]
        }
        return """
            A finding without a code is an error: the flow cannot be used. To accept a warning or a note, write
            `# check: allow CODE, REASON` at the end of its line or on a line before it. If views may send requests, or the
            flow opens windows, some warnings are left out. The check knows the app's messages without FILE, and with
            `-f COMPOSE` or `--contract FILE`.

            \(GeneratedPage.table(["Code", "Meaning"], rows))
            """
    }
}

/// The sections of a JSON Schema: one for each definition with a title, in the order in which they are mentioned.
private struct SchemaPage {
    /// The schema as YAML, which keeps the order of keys.
    private let schema: FlowNode
    private let definitions: [(name: String, node: FlowNode)]
    private let titles: Set<String>

    /// - Parameter other: A page to whose sections this one refers.
    init(_ path: String, beside other: SchemaPage? = nil) throws {
        var reader = FlowReader(file: path)
        let text = try String(contentsOfFile: Repository.path(path), encoding: .utf8)
        let document = reader.document(text, "a schema")
        schema = try #require(document)
        definitions = (schema["$defs"]?.members ?? []) + (other?.definitions ?? [])
        titles = Set(other?.sections.map(\.title) ?? [])
    }

    var sections: [(title: String, text: String)] {
        var seen = titles
        return sections(of: schema, &seen)
    }

    /// The sections of a definition and of those that it mentions.
    private func sections(of node: FlowNode, _ seen: inout Set<String>) -> [(title: String, text: String)] {
        guard let title = node["title"]?.text, seen.insert(title).inserted else { return [] }
        let others = mentioned(in: node)
        return others.reduce(into: [(title, section(node))]) { $0 += sections(of: $1, &seen) }
    }

    /// The definitions with a title that a node mentions, in order.
    private func mentioned(in node: FlowNode) -> [FlowNode] {
        if let target = target(of: node) { return target["title"] == nil ? mentioned(in: target) : [target] }
        let parts = node.members.filter { $0.name != "$defs" }.map(\.node) + node.elements
        return parts.flatMap { mentioned(in: $0) }
    }

    private func section(_ node: FlowNode) -> String {
        let required = node["required"]?.elements.compactMap(\.text) ?? []
        let keys = (node["properties"]?.members ?? []).map { name, value in
            ["`\(name)`\(required.contains(name) ? "\\*" : "")", form(of: value), description(of: value)]
        }
        let words = zip(node["enum"]?.elements ?? [], node["enumDescriptions"]?.elements ?? []).map {
            ["`\($0.text ?? "")`", $1.text ?? ""]
        }
        let examples = (node["examples"]?.elements ?? []).compactMap(\.text).map { "`\($0)`" }
        return [
            description(of: node), examples.isEmpty ? "" : "Examples: \(examples.joined(separator: ", "))",
            keys.isEmpty ? "" : GeneratedPage.table(["Key", "Value", "Meaning"], keys),
            words.isEmpty ? "" : GeneratedPage.table(["Word", "Meaning"], words),
        ].filter { !$0.isEmpty }.joined(separator: "\n\n")
    }

    /// The description of a value. If it has none, that of the definition that it refers to; if this definition has a
    /// section, only the first sentence.
    private func description(of value: FlowNode) -> String {
        if let own = value["description"]?.text { return own }
        guard let target = target(of: value), let text = target["description"]?.text else { return "" }
        let end = target["title"].flatMap { _ in text.firstRange(of: ". ") }
        return end.map { "\(text[..<$0.lowerBound])." } ?? text
    }

    /// The form of a value: its type, its choices, or a link to the section that describes it.
    private func form(of value: FlowNode) -> String {
        if let target = target(of: value) { return link(to: target) ?? form(of: target) }
        if let choices = value["enum"]?.elements.compactMap(\.text) {
            return choices == ["null", ""] ? "nothing" : choices.map { "`\($0)`" }.joined(separator: ", ")
        }
        if let alternatives = value["anyOf"]?.elements { return form(of: alternatives) }
        if let then = value["then"], value["properties"] == nil {
            return form(of: [value["else"], then].compactMap(\.self))
        }
        if let constant = value["const"]?.text { return "`\(constant)`" }
        let types = value["type"]?.elements.compactMap(\.text) ?? []
        switch value["type"]?.text ?? types.first {
        case "array": return "list of " + (value["items"].map(form) ?? "values")
        case "object": return value["additionalProperties"].map { "names: " + form(of: $0) } ?? "mapping"
        case "boolean": return "`true` or `false`"
        case "null": return ""
        case "string" where ["boolean", "null"].allSatisfy(types.contains): return "value"
        case let type?: return type
        case nil: return value["items"].map { "list of \(form(of: $0))" } ?? "value"
        }
    }

    /// The forms of alternatives. A list of the others is called a list of them.
    private func form(of alternatives: [FlowNode]) -> String {
        var forms: [String] = []
        for form in alternatives.map(form) where !form.isEmpty && !forms.contains(form) { forms.append(form) }
        if let list = forms.last, forms.count > 1, list == "list of " + forms.dropLast().joined(separator: " or ") {
            return forms.dropLast().joined(separator: " or ") + ", or a list"
        }
        return forms.joined(separator: " or ")
    }

    private func link(to node: FlowNode) -> String? {
        node["title"]?.text.map { "[\($0.prefix(1).lowercased())\($0.dropFirst())](#\(FlowKeysPage.anchor(of: $0)))" }
    }

    private func target(of value: FlowNode) -> FlowNode? {
        guard let name = value["$ref"]?.text?.split(separator: "/").last else { return nil }
        return definitions.first { $0.name == name }?.node
    }
}

extension FlowNode {
    fileprivate subscript(key: String) -> FlowNode? { members.first { $0.name == key }?.node }

    fileprivate var members: [(name: String, node: FlowNode)] {
        (mapping ?? []).compactMap { key, node in key.text.map { ($0, node) } }
    }

    fileprivate var elements: [FlowNode] { if case .sequence(let elements) = content { elements } else { [] } }

    fileprivate var text: String? { if case .scalar(let scalar) = content { scalar.text } else { nil } }
}
