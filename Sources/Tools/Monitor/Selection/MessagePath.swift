package import EventBus
import Navigation
package import Support

/// A place in a message: `type`, `correlationid`, `data.songs[0].title`, `position.offset`.
package struct MessagePath: Hashable, Sendable {
    let member: MessageMember
    /// The names and indices after the member.
    let steps: [String]
    private let text: String

    /// - Parameter column: The column, from 1, at which the path begins in the whole text.
    /// - Throws: ``SyntaxMistake``.
    package init(_ text: String, column: Int = 1) throws(SyntaxMistake) {
        let name = Substring(text.unicodeScalars.prefix { $0 != "." && $0 != "[" })
        guard let member = MessageMember(rawValue: String(name)) else {
            throw SyntaxMistake(Self.advice(on: String(name)), column: column)
        }
        self.member = member
        self.text = text
        steps = try Self.steps(text[name.endIndex...], column: column + name.count)
        guard steps.isEmpty || !member.isText else {
            throw SyntaxMistake("'\(name)' is a string and has no members", column: column + name.count)
        }
    }

    private static func steps(_ text: Substring, column: Int) throws(SyntaxMistake) -> [String] {
        var (scalars, steps): (Substring.UnicodeScalarView, [String]) = (text.unicodeScalars, [])
        while let scalar = scalars.popFirst() {
            let place = column + text.distance(from: text.startIndex, to: scalars.startIndex)
            let step = scalars.prefix { scalar == "[" ? $0.isASCIIDigit : $0 != "." && $0 != "[" }
            scalars = scalars[step.endIndex...]
            switch scalar {
            case "." where !step.isEmpty: steps.append(String(step))
            case ".": throw SyntaxMistake("expected a name after '.'", column: place)
            case "[" where !step.isEmpty && scalars.popFirst() == "]": steps.append(String(step))
            case "[": throw SyntaxMistake("expected an index such as [0]", column: place - 1)
            default: throw SyntaxMistake("expected '.' or '[' before '\(scalar)'", column: place - 1)
            }
        }
        return steps
    }

    private static func advice(on name: String) -> String {
        let problem = name.isEmpty ? "expected a path such as type or data.url" : "there is no attribute '\(name)'"
        let near = Spelling.nearest(to: name, in: MessageMember.allCases.map(\.rawValue))
        let other = name.isEmpty ? "" : "; write data.\(name) for a member of the data"
        return problem + (near.map { "; did you mean \($0)?" } ?? other)
    }
}

extension MessagePath {
    /// The field of the data in which the path begins, such as `songs` of `data.songs[0].title`. Nil for a path that is
    /// not in the data, and for `data` itself.
    package var dataField: String? { member == .data ? steps.first : nil }
}

extension MessagePath: CustomStringConvertible {
    package var description: String { text }
}

/// A member of a message: an attribute by its name in CloudEvents, a part of the type, the data or the position.
enum MessageMember: String, CaseIterable, Sendable {
    case type, kind, name, source, subject, id, time, key, platform, device, instance, correlationid, causationid
    case traceparent, expirytime, recipient, data, position

    /// True if the member is a string, so that a path ends with it.
    var isText: Bool { self != .data && self != .position }
    var isTime: Bool { self == .time || self == .expirytime }

    /// The member's value; `null` if the message does not have it. Always `null` for `data`, which ``MessageValues``
    /// parses.
    func value(of message: Envelope) -> JSONValue {
        if self == .position { return position(of: message) }
        return text(of: message).map(JSONValue.string) ?? .null
    }

    private func text(of message: Envelope) -> String? {
        switch self {
        case .kind: message.attributes.type.kind.rawValue
        case .name: message.attributes.type.name
        default: HeaderField.all.first { $0.isNamed(rawValue) }?.text(in: message.attributes)
        }
    }

    /// The position in the form of ``CloudEventFormat``.
    private func position(of message: Envelope) -> JSONValue {
        guard let position = message.position else { return .null }
        let offset = Int(exactly: position.offset).map(JSONValue.integer) ?? .number(Double(position.offset))
        return ["epoch": .string(String(position.epoch, radix: 16)), "offset": offset]
    }
}

/// The values of a message at paths. The data is parsed once, when the first path that begins with `data` is read.
package final class MessageValues {
    package let message: Envelope
    private lazy var data = (try? JSONValue(parsing: message.data)) ?? .null
    private lazy var json = JSONText(message.data)

    package init(_ message: Envelope) {
        self.message = message
    }

    /// The value at a path; `null` if there is no value, or if the path leads into data that is not JSON.
    package subscript(path: MessagePath) -> JSONValue {
        let value = path.member == .data ? data : path.member.value(of: message)
        return path.steps.isEmpty ? value : value.value(at: path.steps) ?? .null
    }

    /// The value at a path as text: a string without quotes, another value as the JSON that was published, and the
    /// empty string for `null`.
    package func text(at path: MessagePath) -> String {
        if path.member == .data {
            guard let value = json?.value(at: path.steps) else { return "" }
            return value.stringValue ?? (value.description == "null" ? "" : value.description)
        }
        let value = self[path]
        return value.isNull ? "" : value.stringValue ?? value.description
    }
}

/// An error in a path, an expression or a template, with its column.
package struct SyntaxMistake: Error, Hashable, Sendable {
    package let message: String
    /// The column in characters, from 1.
    package let column: Int

    init(_ message: String, column: Int) {
        self.message = message
        self.column = column
    }
}

extension SyntaxMistake: CustomStringConvertible {
    package var description: String { "\(message) (column \(column))" }
}
