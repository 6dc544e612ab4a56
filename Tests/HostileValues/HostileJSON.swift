internal import Foundation
package import Support

/// The number of texts that a test makes from a valid value.
package enum HostileExtent: Sendable {
    /// The first value of each family of ``HostileValue`` in each member, and in the first element of each array:
    /// values of one family are refused or accepted for the same reason, and so are the elements of an array.
    case short
    /// Every value in every place.
    case long

    /// ``long`` if the environment variable `SWEEP` is `long`, as in `make fuzz`.
    package static var ofRun: HostileExtent { ProcessInfo.processInfo.environment["SWEEP"] == "long" ? .long : .short }
}

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
    package func hostileTexts(_ extent: HostileExtent = .long) -> [HostileJSON] {
        variations(extent) { value in
            let families = value.hostileFamilies + [[.null]]
            return extent == .short ? families.compactMap(\.first) : families.flatMap(\.self)
        }
    }

    /// The texts in which one number of this value, at any depth, is replaced by the greatest or the least one.
    /// - Parameter matches: false for the paths of numbers that stay.
    package func extremeNumbers(where matches: (String) -> Bool = { _ in true }) -> [HostileJSON] {
        variations(.long) { $0.numberValue == nil ? [] : HostileValue.extremes.flatMap(\.self) }
            .filter { matches($0.path) }
    }

    private func variations(
        _ extent: HostileExtent, _ replacements: (JSONValue) -> [HostileValue]
    ) -> [HostileJSON] {
        var texts: [HostileJSON] = []
        visit(extent, "") { path, value, whole in
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
        _ extent: HostileExtent, _ path: String, within whole: @escaping (JSONValue) -> JSONValue = { $0 },
        _ body: (String, JSONValue, (JSONValue) -> JSONValue) -> Void
    ) {
        body(path, self, whole)
        func inner(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }
        switch self {
        case .array(let elements):
            for index in extent == .short ? elements.indices.prefix(1) : elements.indices {
                elements[index].visit(
                    extent, inner("\(index)"),
                    within: { other in
                        var changed = elements
                        changed[index] = other
                        return whole(.array(changed))
                    }, body)
            }
        case .object(let members):
            for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                member.visit(
                    extent, inner(name), within: { whole(.object(members.merging([name: $0]) { $1 })) }, body)
            }
        default: break
        }
    }

    private var hostileFamilies: [[HostileValue]] {
        switch self {
        case .integer, .number: HostileValue.extremes + HostileValue.strangeNumbers
        case .string: HostileValue.strings
        case .array, .object: HostileValue.containers
        case .bool, .null: HostileValue.extremes + HostileValue.containers
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

    // The inner lists are families: values that a reader treats alike.

    static let extremes = [
        [HostileValue("9223372036854775807")], [HostileValue("-9223372036854775808")],
        [HostileValue("1e300"), HostileValue("-1e300")],
    ]
    static let strangeNumbers = [
        [HostileValue("9007199254740992"), HostileValue("9007199254740991"), HostileValue("18446744073709551615")],
        [HostileValue("-1"), HostileValue("0"), HostileValue("-0.0")], [HostileValue("0.5")],
        [HostileValue("NaN"), HostileValue("1e999")], [HostileValue("\"NaN\""), HostileValue("\"Infinity\"")],
    ]
    static let strings = [
        [HostileValue("\"\""), HostileValue("\"9223372036854775807\"")], [HostileValue("9223372036854775807")],
        [HostileValue("\"\(String(repeating: "x", count: 20_000))\"", name: "20,000 characters")],
        [HostileValue(#""\u0000\u001b[2J\u202e\n""#)],
    ]
    static let containers = [
        [HostileValue("[]")], [HostileValue("{}")],
        [
            HostileValue(String(repeating: "[", count: 400) + String(repeating: "]", count: 400), name: "400 arrays"),
            HostileValue(
                "[\(Array(repeating: "9223372036854775807", count: 5000).joined(separator: ","))]",
                name: "5,000 numbers"),
            HostileValue(
                String(repeating: #"{"a":"#, count: 5000) + "1" + String(repeating: "}", count: 5000),
                name: "5,000 objects"),
        ],
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
        case .range(let schema, let least, let most): (least ?? most).map { .number($0) } ?? schema.sample
        case .enumeration(let values): values.first ?? .null
        case .array(let elements): .array([elements.sample])
        case .map(let members): .object(["a": members.sample])
        case .object(let members): .object(members.mapValues(\.schema.sample))
        case .nullable(let schema): schema.sample
        }
    }
}
