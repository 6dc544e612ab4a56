import Foundation

/// The query parameter `fields`: the part of an answer that a client requests.
///
///     total,limit
///     items(added_at,added_by.id)
///     items.item.album(!external_urls,images)
///
/// A list that begins with an exclamation mark names the fields to leave out.
struct FieldSelection: Sendable, Equatable {
    /// The selections of the named fields. Nil for a whole field.
    private var fields: [String: FieldSelection?] = [:]
    /// True if the named fields are left out, and all others remain.
    private var isExclusion = false

    private init() {}

    /// - Throws: An error with the status 400 if the text is malformed.
    init(_ text: String) throws(WebAPIError) {
        var rest = text[...]
        self = try Self.list(&rest, depth: 0)
        guard rest.isEmpty else { throw .invalidFields }
    }

    /// Removes the other fields from a JSON document.
    func applied(to document: Data) throws -> Data {
        let value = try JSONSerialization.jsonObject(with: document)
        return try JSONSerialization.data(
            withJSONObject: applied(to: value), options: [.sortedKeys, .withoutEscapingSlashes])
    }

    private func applied(to value: Any) -> Any {
        if let list = value as? [Any] { return list.map(applied) }
        guard let object = value as? [String: Any] else { return value }
        var result: [String: Any] = [:]
        for (name, value) in object {
            switch fields[name] {
            case nil: if isExclusion { result[name] = value }
            case .some(nil): if !isExclusion { result[name] = value }
            case .some(let selection?): result[name] = selection.applied(to: value)
            }
        }
        return result
    }

    /// Reads fields that are separated by commas, to the closing parenthesis or the end.
    private static func list(_ rest: inout Substring, depth: Int) throws(WebAPIError) -> FieldSelection {
        // The limit protects the stack.
        guard depth < 32 else { throw .invalidFields }
        var selection = FieldSelection()
        if rest.first == "!" {
            rest.removeFirst()
            selection.isExclusion = true
        }
        repeat {
            if !selection.fields.isEmpty { rest.removeFirst() }
            let (name, part) = try field(&rest, depth: depth)
            selection.fields.updateValue(part, forKey: name)
        } while rest.first == ","
        return selection
    }

    /// Reads a name, and its part if one follows: `.name` or a list in parentheses.
    private static func field(
        _ rest: inout Substring, depth: Int
    ) throws(WebAPIError) -> (String, FieldSelection?) {
        let name = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        guard !name.isEmpty, depth < 32 else { throw .invalidFields }
        rest.removeFirst(name.count)
        switch rest.first {
        case ".":
            rest.removeFirst()
            var part = FieldSelection()
            let (inner, selection) = try field(&rest, depth: depth + 1)
            part.fields.updateValue(selection, forKey: inner)
            return (String(name), part)
        case "(":
            rest.removeFirst()
            let part = try list(&rest, depth: depth + 1)
            guard rest.first == ")" else { throw .invalidFields }
            rest.removeFirst()
            return (String(name), part)
        default:
            return (String(name), nil)
        }
    }
}
