package import EventBus
import Navigation
package import Support

/// A place in a message: `type`, `correlationid`, `data.songs[0].title`, `position.offset`.
package struct MessagePath: Hashable, Sendable {
    let member: MessageMember
    /// Names and indices.
    let steps: [String]
    private let text: String

    /// - Parameter column: where the path stands in what somebody wrote.
    /// - Throws: ``SyntaxMistake``.
    package init(_ text: String, column: Int = 1) throws(SyntaxMistake) {
        let name = text.prefix { $0 != "." && $0 != "[" }
        guard let member = MessageMember(rawValue: String(name)) else {
            throw SyntaxMistake(Self.advice(on: String(name)), column: column)
        }
        self.member = member
        self.text = text
        steps = try Self.steps(text.dropFirst(name.count), column: column + name.count)
        guard steps.isEmpty || !member.isText else {
            throw SyntaxMistake("'\(name)' is a text: nothing is inside it", column: column + name.count)
        }
    }

    private static func steps(_ text: Substring, column: Int) throws(SyntaxMistake) -> [String] {
        var (rest, steps): (Substring, [String]) = (text, [])
        while let mark = rest.popFirst() {
            let place = column + text.distance(from: text.startIndex, to: rest.startIndex)
            let step = rest.prefix { mark == "[" ? $0.isASCII && $0.isNumber : $0 != "." && $0 != "[" }
            rest = rest.dropFirst(step.count)
            switch mark {
            case "." where !step.isEmpty: steps.append(String(step))
            case ".": throw SyntaxMistake("expected a name after '.'", column: place)
            case "[" where !step.isEmpty && rest.popFirst() == "]": steps.append(String(step))
            case "[": throw SyntaxMistake("expected an index such as [0]", column: place - 1)
            default: throw SyntaxMistake("expected '.' or '[' before '\(mark)'", column: place - 1)
            }
        }
        return steps
    }

    private static func advice(on name: String) -> String {
        let problem = name.isEmpty ? "expected a path such as type or data.url" : "there is no attribute '\(name)'"
        let near = Spelling.nearest(to: name, in: MessageMember.allCases.map(\.rawValue))
        let other = name.isEmpty ? "" : "; what a message carries is in data, as in data.\(name)"
        return problem + (near.map { "; did you mean \($0)?" } ?? other)
    }
}

extension MessagePath: CustomStringConvertible {
    package var description: String { text }
}

/// What a message has: the attributes by their names on the wire, what its type is made of, its data and its position.
enum MessageMember: String, CaseIterable, Sendable {
    case type, kind, name, source, subject, id, time, key, platform, device, instance, correlationid, causationid
    case traceparent, expirytime, recipient, data, position

    /// Whether it is a text, so that no path leads further.
    var isText: Bool { self != .data && self != .position }
    var isTime: Bool { self == .time || self == .expirytime }

    /// `null` for what the message does not have. The data is read elsewhere.
    func value(of message: Envelope) -> JSONValue {
        if self == .position { return position(of: message) }
        return text(of: message).map(JSONValue.string) ?? .null
    }

    private func text(of message: Envelope) -> String? {
        let attributes = message.attributes
        return switch self {
        case .type: attributes.type.description
        case .kind: attributes.type.kind.rawValue
        case .name: attributes.type.name
        case .source: attributes.source
        case .subject: attributes.subject
        case .id: attributes.id
        case .time: Timestamp.text(of: attributes.time)
        case .key: attributes.key
        case .platform: attributes.platform
        case .device: attributes.device
        case .instance: attributes.instance
        case .correlationid: attributes.correlationID
        case .causationid: attributes.causationID
        case .traceparent: attributes.traceparent
        case .expirytime: attributes.expiryTime.map(Timestamp.text(of:))
        case .recipient: attributes.recipient
        case .data, .position: nil
        }
    }

    /// As ``CloudEventFormat`` writes it.
    private func position(of message: Envelope) -> JSONValue {
        guard let position = message.position else { return .null }
        let offset = Int(exactly: position.offset).map(JSONValue.integer) ?? .number(Double(position.offset))
        return ["epoch": .string(String(position.epoch, radix: 16)), "offset": offset]
    }
}

/// A message as paths see it. Its data is parsed once, and only if a path leads there.
package final class MessageValues {
    package let message: Envelope
    private lazy var data = (try? JSONValue(parsing: message.data)) ?? .null

    package init(_ message: Envelope) {
        self.message = message
    }

    /// `null` where there is nothing, and for data that is not JSON.
    package subscript(path: MessagePath) -> JSONValue {
        let value = path.member == .data ? data : path.member.value(of: message)
        return path.steps.isEmpty ? value : value.value(at: path.steps) ?? .null
    }

    /// A text as it is, anything else as JSON; empty where there is nothing.
    package func text(at path: MessagePath) -> String {
        let value = self[path]
        return value.isNull ? "" : value.stringValue ?? value.description
    }
}

/// What is wrong with a text that somebody wrote, and where.
package struct SyntaxMistake: Error, Hashable, Sendable {
    package let message: String
    /// Counted in characters, from 1.
    package let column: Int

    init(_ message: String, column: Int) {
        self.message = message
        self.column = column
    }
}

extension SyntaxMistake: CustomStringConvertible {
    package var description: String { "\(message) (column \(column))" }
}
