import Foundation
import Support

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
        var scalars = text[...].unicodeScalars
        self = try Self.list(&scalars, depth: 0)
        guard scalars.isEmpty else { throw .invalidFields }
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
    private static func list(_ scalars: inout Substring.UnicodeScalarView, depth: Int) throws(WebAPIError)
        -> FieldSelection
    {
        // The limit protects the stack.
        guard depth < 32 else { throw .invalidFields }
        var selection = FieldSelection()
        if scalars.first == "!" {
            scalars.removeFirst()
            selection.isExclusion = true
        }
        repeat {
            if !selection.fields.isEmpty { scalars.removeFirst() }
            let (name, part) = try field(&scalars, depth: depth)
            selection.fields.updateValue(part, forKey: name)
        } while scalars.first == ","
        return selection
    }

    /// Reads a name, and its part if one follows: `.name` or a list in parentheses.
    private static func field(
        _ scalars: inout Substring.UnicodeScalarView, depth: Int
    ) throws(WebAPIError) -> (String, FieldSelection?) {
        let name = scalars.prefix { $0.isASCIILetter || $0.isASCIIDigit || $0 == "_" }
        guard !name.isEmpty, depth < 32 else { throw .invalidFields }
        scalars.removeFirst(name.count)
        switch scalars.first {
        case ".":
            scalars.removeFirst()
            var part = FieldSelection()
            let (inner, selection) = try field(&scalars, depth: depth + 1)
            part.fields.updateValue(selection, forKey: inner)
            return (String(name), part)
        case "(":
            scalars.removeFirst()
            let part = try list(&scalars, depth: depth + 1)
            guard scalars.first == ")" else { throw .invalidFields }
            scalars.removeFirst()
            return (String(name), part)
        default:
            return (String(name), nil)
        }
    }
}
