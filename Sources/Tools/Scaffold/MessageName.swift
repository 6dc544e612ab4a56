internal import Contracts
internal import EventBus
internal import Support

/// The type of a message that is to be declared in Swift.
package struct MessageName: Hashable, Sendable {
    let type: MessageType

    /// - Throws: ``ScaffoldError`` if the string is not a type of message that an app can declare.
    package init(_ text: String) throws(ScaffoldError) {
        guard let type = MessageType(text), type.name.first?.isUppercase == true,
            !Self.keywords.contains(type.name)
        else {
            throw ScaffoldError(
                .argument, "'\(text)' is not a message type",
                recovery: "write it like command.CoffeeOrdered or event.CoffeeServed")
        }
        guard type.kind != .error else {
            throw ScaffoldError(
                .argument, "\(text) is an error, and all errors have the type ApplicationError",
                recovery:
                    "throw ApplicationError with a code of your own: ApplicationError(code: \"coffee.unknown\", …)"
            )
        }
        self.type = type
    }

    /// The keywords that could be the name of a type or module, but cannot be used as one.
    static let keywords: Set = ["Any", "Protocol", "Self", "Type"]

    var name: String { type.name }
    /// True if Segue itself declares the message.
    var isOfPlatform: Bool { PlatformMessages.all.contains { $0.type == type } }
    /// The name in Swift, such as `Command.CoffeeOrdered`.
    var swift: String { "\(role.namespace).\(name)" }
    /// The name of its source file, such as `Command+CoffeeOrdered.swift`.
    var fileName: String { "\(role.namespace)+\(name).swift" }

    /// The parts of a declaration that depend on the kind of message.
    struct Role {
        /// The enum that contains the messages.
        let namespace: String
        let conformance: String
        /// The end of the placeholder comment "Describe here …" above a new message.
        let meaning: String
    }

    var role: Role {
        switch type.kind {
        case .command:
            Role(
                namespace: "Command", conformance: "CommandMessage",
                meaning: "the action that the user requests")
        case .event, .error:
            Role(
                namespace: "DomainEvent", conformance: "EventMessage",
                meaning: "the change that has happened")
        case .document:
            Role(
                namespace: "Document", conformance: "DocumentMessage",
                meaning: "the state that the document contains")
        case .query:
            Role(
                namespace: "Query", conformance: "QueryMessage",
                meaning: "the question that the query asks")
        }
    }
}

/// A field of a message, such as `cups:Int` or `note:String?`.
package struct Field: Hashable, Sendable {
    package let name: String
    /// The type in Swift, such as `[String]?`.
    package let type: String

    /// The Swift keywords that must be written in backticks if they are names.
    private static let reserved: Set<String> = [
        "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do",
        "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import",
        "in", "init", "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public",
        "repeat", "rethrows", "return", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true",
        "try", "typealias", "var", "where", "while",
    ]

    /// The name in Swift, in backticks if it is a keyword.
    var swiftName: String { Self.reserved.contains(name) ? "`\(name)`" : name }

    /// Parses the fields of one message, and keeps their order.
    /// - Throws: ``ScaffoldError`` if a string is not a field, or a name is repeated.
    package static func list(_ texts: [String]) throws(ScaffoldError) -> [Field] {
        var fields: [Field] = []
        for text in texts {
            let field = try Field(text)
            guard !fields.contains(where: { $0.name == field.name }) else {
                throw ScaffoldError(
                    .argument, "duplicate field '\(field.name)'", recovery: "rename or remove one of them")
            }
            fields.append(field)
        }
        return fields
    }

    /// - Throws: ``ScaffoldError`` if the string is not `NAME:TYPE`, or if the name or the type is not supported.
    package init(_ text: some StringProtocol) throws(ScaffoldError) {
        let parts = String(text).replacing(scalars: "`", with: "").split(scalar: ":", maxSplits: 1).map {
            String($0.trimmed)
        }
        guard parts.count == 2, parts[0].wholeMatch(of: #/[a-z][A-Za-z0-9]*/#.byScalar) != nil,
            Self.sample(parts[1]) != nil,
            !["inout", "self"].contains(parts[0])
        else {
            throw ScaffoldError(
                .argument, "'\(text)' is not a field",
                recovery:
                    "write name:Type, such as cups:Int; a type is String, Int, Double, Bool, Date, [Type] or Type?")
        }
        (name, type) = (parts[0], parts[1])
    }

    /// A value of the field's type for a test, in Swift.
    var sample: String { Self.sample(type)?.swift ?? "" }

    /// The value of ``sample`` in JSON. Nil for an optional field.
    var json: String? { Self.sample(type)?.json }

    /// True if a message may be without the field.
    var isOptional: Bool { type.ends(with: "?") }

    /// The schema of the field's value in a flow file.
    var schema: String { Self.schema(of: type) }

    private static func schema(of type: String) -> String {
        if let wrapped = type.removing(suffix: "?") { return schema(of: String(wrapped)) }
        if let element = type.removing(prefix: "[")?.removing(suffix: "]") {
            let isNamed = element.unicodeScalars.allSatisfy(\.properties.isAlphabetic)
            return isNamed ? "[\(schema(of: String(element)))]" : "array"
        }
        return switch type {
        case "Int": "integer"
        case "Double": "number"
        case "Bool": "boolean"
        default: "string"
        }
    }

    private static func sample(_ type: String) -> (swift: String, json: String?)? {
        if let wrapped = type.removing(suffix: "?") {
            return sample(String(wrapped)) == nil ? nil : ("nil", nil)
        }
        if let element = type.removing(prefix: "[")?.removing(suffix: "]") {
            guard let element = sample(String(element)) else { return nil }
            return ("[\(element.swift)]", "[\(element.json ?? "null")]")
        }
        return switch type {
        case "String": (#""some""#, #""some""#)
        case "Int": ("1", "1")
        case "Double": ("0.5", "0.5")
        case "Bool": ("true", "true")
        case "Date": ("Date(timeIntervalSince1970: 0)", #""1970-01-01T00:00:00.000Z""#)
        default: nil
        }
    }
}

extension [Field] {
    /// True if the type of a field is declared by Foundation.
    var needFoundation: Bool { contains { $0.type.contains(scalars: "Date") } }
}
