package import Support

// The fields of commands that a flow declares under `commands`, and the arguments of screens. The schema of a field is
// one of:
//
// - one of the types of JSON Schema, such as `string`;
// - a list with the schema of its elements, such as `[string]`;
// - a JSON Schema, such as `{ enum: [solo, team] }` or `{ type: integer, minimum: 1, maximum: 60 }`.
//
// A name that ends in `?` is that of an optional field.

extension [String: JSONSchema.Property] {
    /// The fields in the form of flow files.
    var json: JSONValue {
        let members = map { name, field in (name + (field.isRequired ? "" : "?"), field.schema.short) }
        return .object([String: JSONValue](members) { first, _ in first })
    }
}

extension JSONSchema {
    /// The schema in the shortest form of flow files.
    fileprivate var short: JSONValue {
        switch self {
        case .boolean, .integer, .number, .string: json["type"] ?? json
        case .array(.any): "array"
        case .array(let elements): [elements.short]
        case .map(.any): "object"
        case .any, .enumeration, .map, .object, .nullable, .range: json
        }
    }

    fileprivate enum TypeName: String, CaseIterable {
        case array, boolean, integer, number, object, string
    }
}

extension FlowReader {
    /// Reads the fields of commands, by the command's type. A command without fields may be left empty after its colon.
    package mutating func commands(_ node: FlowNode) -> [String: [String: JSONSchema.Property]] {
        guard case .mapping(let mapping) = node.content else {
            report("'commands' must be a mapping from the types of commands to their fields", at: node)
            return [:]
        }
        var commands: [String: [String: JSONSchema.Property]] = [:]
        for (key, node) in mapping {
            guard let type = string(key, "a command's type") else { continue }
            record("commands.\(type)", at: key)
            commands[type] = declaredFields(node, of: type, at: "commands.\(type)")
        }
        return commands
    }

    /// Reads declared fields by name.
    ///
    /// - Parameter owner: The command or screen that has the fields.
    package mutating func declaredFields(
        _ node: FlowNode, of owner: String, _ what: String = "fields", at keyPath: String
    ) -> [String: JSONSchema.Property] {
        if case .scalar(let scalar) = node.content, scalar.text.isEmpty { return [:] }
        guard case .mapping(let mapping) = node.content else {
            report(
                "the \(what) of '\(owner)' must be a mapping from names to types, such as { name: string }", at: node)
            return [:]
        }
        var fields: [String: JSONSchema.Property] = [:]
        for (key, node) in mapping {
            guard let text = string(key, "a field's name") else { continue }
            let name = text.removing(suffix: "?").map(String.init) ?? text
            record("\(keyPath).\(name)", at: key)
            if fields[name] != nil { report("duplicate field '\(name)'; remove one of them", at: key) }
            guard let schema = schema(node, of: name, at: "\(keyPath).\(name)") else { continue }
            fields[name] = JSONSchema.Property(schema, isRequired: name == text)
        }
        return fields
    }

    private mutating func schema(_ node: FlowNode, of field: String, at keyPath: String) -> JSONSchema? {
        switch node.content {
        case .scalar:
            return choice(node, "type", of: JSONSchema.TypeName.self).map { JSONSchema(["type": .string($0.rawValue)]) }
        case .sequence(let elements):
            guard elements.count == 1 else {
                report("the list of '\(field)' must have one type, that of its elements, such as [string]", at: node)
                return nil
            }
            return schema(elements[0], of: field, at: keyPath).map { .array($0) }
        case .mapping, .alias:
            return checkKeywords(of: node, field, at: keyPath) ? JSONSchema(value(node)) : nil
        }
    }

    /// Reports keywords and types that a JSON Schema in a flow cannot have, because ``JSONSchema`` would ignore them.
    ///
    /// - Returns: True if there are none.
    private mutating func checkKeywords(of node: FlowNode, _ field: String, at keyPath: String) -> Bool {
        let count = findings.count
        let keywords = [
            "type", "enum", "minimum", "maximum", "items", "properties", "required", "additionalProperties", "anyOf",
        ]
        let what = "the schema of '\(field)'"
        guard let members = members(of: node, what, at: keyPath, optional: keywords) else { return false }
        if let type = members["type"], name(of: type) != "null" {
            _ = choice(type, "type", of: JSONSchema.TypeName.self)
        }
        for (bound, node) in [("minimum", members["minimum"]), ("maximum", members["maximum"])] {
            guard let node, number(node, "'\(bound)'") != nil else { continue }
            if let type = members["type"].flatMap({ name(of: $0) }), ["integer", "number"].contains(type) { continue }
            report("'\(bound)' needs 'type: integer' or 'type: number'; add it", at: node)
        }
        var parts = [members["items"], members["additionalProperties"]].compactMap(\.self)
        if let properties = members["properties"] {
            parts += properties.mapping?.map(\.value) ?? []
            if properties.mapping == nil {
                report("'properties' must be a mapping from names to schemas", at: properties)
            }
        }
        for (keyword, what) in [("enum", "values"), ("required", "names"), ("anyOf", "schemas")] {
            guard let list = members[keyword] else { continue }
            guard case .sequence(let elements) = list.content else {
                report("'\(keyword)' must be a list of \(what)", at: list)
                continue
            }
            if keyword == "anyOf" { parts += elements }
        }
        for part in parts { _ = checkKeywords(of: part, field, at: keyPath) }
        return findings.count == count
    }
}
