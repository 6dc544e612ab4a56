package import Support

/// A JSON text that differs from a valid one in one value.
package struct HostileJSON: Hashable, Sendable {
    /// The path of the value, such as `songs.0.duration`. Empty for the whole text.
    package let path: String
    /// The value, in a few words or as JSON.
    package let value: String
    package let json: String
}

extension JSONValue {
    /// The texts in which one value of this one, at any depth, is replaced: by the least and the greatest numbers, by
    /// numbers that are not JSON or not numbers, and by empty, huge and deeply nested values.
    package var hostileTexts: [HostileJSON] { variations { $0.hostileValues } }

    /// The texts in which one number of this value, at any depth, is replaced by the greatest or the least one.
    /// - Parameter isMeant: false for the paths of numbers that stay.
    package func extremeNumbers(where isMeant: (String) -> Bool = { _ in true }) -> [HostileJSON] {
        variations { $0.numberValue == nil ? [] : HostileValue.extremes }.filter { isMeant($0.path) }
    }

    private func variations(_ replacements: (JSONValue) -> [HostileValue]) -> [HostileJSON] {
        var texts: [HostileJSON] = []
        visit("") { path, value, whole in
            for replacement in replacements(value) {
                let text = whole(.string(HostileValue.mark)).description
                let json = text.replacing("\"\(HostileValue.mark)\"", with: replacement.json)
                texts.append(HostileJSON(path: path, value: replacement.name, json: json))
            }
        }
        return texts
    }

    /// Calls `body` for this value and for all values in it.
    /// - Parameter body: Receives the path of a value, the value, and a function that returns the whole with another
    ///   value in its place.
    private func visit(
        _ path: String, within whole: @escaping (JSONValue) -> JSONValue = { $0 },
        _ body: (String, JSONValue, (JSONValue) -> JSONValue) -> Void
    ) {
        body(path, self, whole)
        func inner(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }
        switch self {
        case .array(let elements):
            for index in elements.indices {
                elements[index].visit(
                    inner("\(index)"),
                    within: { other in
                        var changed = elements
                        changed[index] = other
                        return whole(.array(changed))
                    }, body)
            }
        case .object(let members):
            for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                member.visit(
                    inner(name), within: { whole(.object(members.merging([name: $0]) { $1 })) }, body)
            }
        default: break
        }
    }

    private var hostileValues: [HostileValue] {
        switch self {
        case .integer, .number: HostileValue.extremes + HostileValue.strangeNumbers + [.null]
        case .string: HostileValue.strings + [.null]
        case .array, .object: HostileValue.containers + [.null]
        case .bool, .null: HostileValue.extremes + HostileValue.containers + [.null]
        }
    }
}

/// A value as JSON, or as a text that is not JSON.
private struct HostileValue {
    /// Takes the place of the value in a text. No valid message contains it.
    static let mark = "\u{E000}hostile\u{E000}"

    let name: String
    let json: String

    init(_ json: String, name: String? = nil) {
        self.name = name ?? json
        self.json = json
    }

    static let null = HostileValue("null")
    static let extremes = [
        HostileValue("9223372036854775807"), HostileValue("-9223372036854775808"), HostileValue("1e300"),
        HostileValue("-1e300"),
    ]
    static let strangeNumbers = [
        HostileValue("9007199254740991"), HostileValue("9007199254740992"), HostileValue("18446744073709551615"),
        HostileValue("-1"), HostileValue("0"), HostileValue("-0.0"), HostileValue("0.5"), HostileValue("1e999"),
        HostileValue("NaN"), HostileValue("\"NaN\""), HostileValue("\"Infinity\""),
    ]
    static let strings = [
        HostileValue("\"\""), HostileValue("\"9223372036854775807\""), HostileValue("9223372036854775807"),
        HostileValue("\"\(String(repeating: "x", count: 20_000))\"", name: "20,000 characters"),
        HostileValue(#""\u0000\u001b[2J\u202e\n""#),
    ]
    static let containers = [
        HostileValue("[]"), HostileValue("{}"),
        HostileValue(
            "[\(Array(repeating: "9223372036854775807", count: 5000).joined(separator: ","))]", name: "5,000 numbers"),
        HostileValue(String(repeating: "[", count: 400) + String(repeating: "]", count: 400), name: "400 arrays"),
        HostileValue(
            String(repeating: #"{"a":"#, count: 5000) + "1" + String(repeating: "}", count: 5000), name: "5,000 objects"
        ),
    ]
}

extension JSONSchema {
    /// A value that the schema allows, with all members.
    package var sample: JSONValue {
        switch self {
        case .any, .string: "sample"
        case .boolean: true
        case .integer: 1
        case .number: 0.5
        case .enumeration(let values): values.first ?? .null
        case .array(let elements): .array([elements.sample])
        case .map(let members): .object(["a": members.sample])
        case .object(let members): .object(members.mapValues(\.schema.sample))
        case .nullable(let schema): schema.sample
        }
    }
}
