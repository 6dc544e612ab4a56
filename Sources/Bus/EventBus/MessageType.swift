/// The type of a message on the wire: `kind.Name`, such as `command.PlaylistSelected`.
public struct MessageType: Hashable, Sendable {
    /// The maximum length of a type in bytes.
    public static let maximumLength = 200

    public let kind: MessageKind
    public let name: String

    /// Creates a type that is known at compile time, without validation. Use ``init(_:)`` for a string from outside.
    public init(kind: MessageKind, name: String) {
        self.kind = kind
        self.name = name
    }

    /// Reads a string of the form `kind.Name`. Nil unless the kind is known, the name matches `[A-Za-z][A-Za-z0-9_-]*`,
    /// and the string is not longer than ``maximumLength``.
    public init?(_ text: String) {
        var text = text
        guard let type = text.withUTF8({ MessageType(utf8: $0) }) else { return nil }
        self = type
    }

    /// The same as ``init(_:)``, for the UTF-8 bytes of a string.
    package init?(utf8 text: UnsafeBufferPointer<UInt8>) {
        guard let dot = text.firstIndex(of: UInt8(ascii: ".")),
            let kind = MessageKind(utf8: UnsafeBufferPointer(rebasing: text[..<dot])),
            case let name = text[(dot + 1)...], Self.isName(name, of: kind)
        else { return nil }
        self.init(kind: kind, name: String(decoding: name, as: UTF8.self))
    }

    /// True if ``init(_:)`` accepts the string form of the type. The name of a Swift struct may contain characters that
    /// are not allowed in a type.
    package var isValid: Bool { Self.isName(name.utf8, of: kind) }

    private static func isName(_ name: some Collection<UInt8>, of kind: MessageKind) -> Bool {
        guard let first = name.first, isLetter(first), name.allSatisfy(isNameByte) else { return false }
        return kind.rawValue.utf8.count + 1 + name.count <= maximumLength
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
    }
}

extension MessageType: CustomStringConvertible {
    public var description: String { "\(kind.rawValue).\(name)" }
}

extension MessageType: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let type = MessageType(text) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "'\(text)' is not a message type; write kind.Name, such as command.PlaylistSelected")
        }
        self = type
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// The kind of a message: the first word of its type on the wire.
public enum MessageKind: String, Codable, Sendable, CaseIterable {
    /// A request to do something.
    case command
    /// Something that happened.
    case event
    /// Something that failed.
    case error
    /// A current state. The bus retains the last document of each type, subject and key.
    case document
    /// A question with one answer. It is never recorded in the journal.
    case query

    /// Reads a kind without creating a string.
    init?(utf8 text: UnsafeBufferPointer<UInt8>) {
        switch text.count {
        case 5 where text.reads("event"): self = .event
        case 5 where text.reads("error"): self = .error
        case 5 where text.reads("query"): self = .query
        case 7 where text.reads("command"): self = .command
        case 8 where text.reads("document"): self = .document
        default: return nil
        }
    }
}
