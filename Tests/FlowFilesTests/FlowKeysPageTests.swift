import FlowFiles
import Foundation
import Navigation
import Support
import TestSupport
import Testing

@Suite("docs/flow-keys.md")
struct FlowKeysPageTests {
    /// With `SEGUE_RENEW_PAGES`, the test writes the page.
    @Test("The page lists the keys of the JSON Schema, in its order")
    func page() throws {
        let path = Repository.path("docs/flow-keys.md")
        let page = try FlowKeysPage(schema: Repository.path("config/flows/flow.schema.json")).text
        if ProcessInfo.processInfo.environment["SEGUE_RENEW_PAGES"] != nil {
            try page.write(toFile: path, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == page, "set SEGUE_RENEW_PAGES=1 to write the page")
    }
}

/// The page of all keys of flow files: a section for each object of the JSON Schema with its keys.
struct FlowKeysPage {
    /// The schema as YAML, which keeps the order of keys.
    private let schema: FlowNode
    private let definitions: [(name: String, node: FlowNode)]

    init(schema path: String) throws {
        var reader = FlowReader(file: path)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let document = reader.document(text, "a schema")
        schema = try #require(document)
        definitions = schema["$defs"]?.members ?? []
    }

    var text: String {
        let objects = definitions.filter { $0.node["properties"] != nil && $0.node["title"] != nil }
        let sections = [section("A flow", schema)] + objects.map { section($0.node["title"]?.text ?? "", $0.node) }
        return """
            # Keys of flow files

            This page is written from `config/flows/flow.schema.json`. [Flows](flows.md) explains how a flow works. A key with
            an asterisk is required.

            \(sections.joined(separator: "\n"))
            """
    }

    private func section(_ title: String, _ node: FlowNode) -> String {
        let required = node["required"]?.elements.compactMap(\.text) ?? []
        let rows = (node["properties"]?.members ?? []).map { name, value in
            let mark = required.contains(name) ? "\\*" : ""
            return "| `\(name)`\(mark) | \(form(of: value)) | \(description(of: value)) |"
        }
        return
            (["## \(title)", "", node["description"]?.text ?? "", "", "| Key | Value | Meaning |", "|---|---|---|"]
            + rows + [""]).joined(separator: "\n")
    }

    /// The description of a value; if it has none, that of the definition that it refers to.
    private func description(of value: FlowNode) -> String {
        (value["description"]?.text ?? target(of: value)?.node["description"]?.text ?? "")
            .replacingOccurrences(of: "|", with: "\\|")
    }

    /// The form of a value: its type, its choices, or a link to the section of an object.
    private func form(of value: FlowNode) -> String {
        if let target = target(of: value) {
            if let title = target.node["title"]?.text, target.node["properties"] != nil {
                let anchor = title.lowercased().replacingOccurrences(of: " ", with: "-")
                return "[\(title.prefix(1).lowercased())\(title.dropFirst())](#\(anchor))"
            }
            return form(of: target.node)
        }
        if let choices = value["enum"]?.elements.compactMap(\.text), !choices.isEmpty {
            return choices.map { "`\($0)`" }.joined(separator: ", ")
        }
        if let alternatives = value["anyOf"]?.elements ?? value["oneOf"]?.elements {
            var forms: [String] = []
            for form in alternatives.map(form) where !forms.contains(form) { forms.append(form) }
            return forms.joined(separator: " or ")
        }
        if let constant = value["const"]?.text { return "`\(constant)`" }
        switch value["type"]?.text ?? value["type"]?.elements.first?.text {
        case "array": return "list of " + (value["items"].map(form) ?? "values")
        case "object": return value["additionalProperties"].map { "names: " + form(of: $0) } ?? "mapping"
        case "boolean": return "`true` or `false`"
        case let type?: return type
        case nil: return "value"
        }
    }

    private func target(of value: FlowNode) -> (name: String, node: FlowNode)? {
        guard let name = value["$ref"]?.text?.split(separator: "/").last.map(String.init) else { return nil }
        return definitions.first { $0.name == name }
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
