internal import Contracts
internal import EventBus

/// A message's type, as it is to be declared in Swift.
package struct MessageName: Hashable, Sendable {
    let type: MessageType

    /// - Throws: ``ScaffoldError`` when it is none that an app declares.
    package init(_ text: String) throws(ScaffoldError) {
        guard let type = MessageType(text), type.name.first?.isUppercase == true,
            !["Any", "Protocol", "Self", "Type"].contains(type.name)
        else {
            throw ScaffoldError(
                "'\(text)' is not a message's type",
                recovery: "write it like command.CoffeeOrdered or event.CoffeeServed")
        }
        guard type.kind != .error else {
            throw ScaffoldError(
                "\(text) would be a second kind of error",
                recovery:
                    "throw ApplicationError with a code of your own, as in ApplicationError(code: \"coffee.unknown\", …)"
            )
        }
        self.type = type
    }

    var name: String { type.name }
    /// Whether every app has it already.
    var isOfPlatform: Bool { PlatformMessages.all.contains { $0.type == type } }
    /// In Swift: `Command.CoffeeOrdered`.
    var swift: String { "\(role.namespace).\(name)" }

    /// The names of all pages.
    static let pages = ["Commands", "Events", "Documents", "Queries"]

    /// How messages of a kind are declared.
    struct Role {
        /// The enum that they are in.
        let namespace: String
        let conformance: String
        /// The name of their page, or of their folder where each has a file of its own.
        let page: String
        /// What is to be said of each.
        let hint: String
    }

    var role: Role {
        switch type.kind {
        case .command:
            Role(
                namespace: "Command", conformance: "CommandMessage", page: "Commands",
                hint: "what a person wants with it")
        case .event, .error:
            Role(namespace: "DomainEvent", conformance: "EventMessage", page: "Events", hint: "what has happened")
        case .document:
            Role(namespace: "Document", conformance: "DocumentMessage", page: "Documents", hint: "what is true now")
        case .query:
            Role(namespace: "Query", conformance: "QueryMessage", page: "Queries", hint: "what is asked")
        }
    }
}

/// One field of a message, as in `cups:Int` or `note:String?`.
package struct Field: Hashable, Sendable {
    package let name: String
    /// As Swift spells it.
    package let type: String

    /// Words of Swift that are no names without backticks.
    private static let reserved: Set<String> = [
        "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do",
        "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import",
        "in", "init", "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public",
        "repeat", "rethrows", "return", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true",
        "try", "typealias", "var", "where", "while",
    ]

    /// Its name, as Swift spells it.
    var swiftName: String { Self.reserved.contains(name) ? "`\(name)`" : name }

    /// Several of one message, in this order.
    /// - Throws: ``ScaffoldError`` when one is none, or there twice.
    package static func list(_ texts: [String]) throws(ScaffoldError) -> [Field] {
        var fields: [Field] = []
        for text in texts {
            let field = try Field(text)
            guard !fields.contains(where: { $0.name == field.name }) else {
                throw ScaffoldError("the field '\(field.name)' is there twice", recovery: "give one another name")
            }
            fields.append(field)
        }
        return fields
    }

    /// - Throws: ``ScaffoldError`` when it is not a name and a type.
    package init(_ text: some StringProtocol) throws(ScaffoldError) {
        let parts = String(text).filter { $0 != "`" }.split(separator: ":", maxSplits: 1)
            .map { String($0.trimming(while: \.isWhitespace)) }
        guard parts.count == 2, parts[0].wholeMatch(of: #/[a-z][A-Za-z0-9]*/#) != nil, Self.sample(parts[1]) != nil,
            !["inout", "self"].contains(parts[0])
        else {
            throw ScaffoldError(
                "'\(text)' is not a field",
                recovery: "write name:Type, such as cups:Int; a type is String, Int, Double, Bool, [Type] or Type?")
        }
        (name, type) = (parts[0], parts[1])
    }

    /// A value of the type for a test, in Swift.
    var sample: String { Self.sample(type)?.swift ?? "" }

    /// The same value in JSON; `nil` for one that is left out there.
    var json: String? { Self.sample(type)?.json }

    private static func sample(_ type: String) -> (swift: String, json: String?)? {
        if type.hasSuffix("?") {
            return sample(String(type.dropLast())) == nil ? nil : ("nil", nil)
        }
        if type.hasPrefix("["), type.hasSuffix("]") {
            guard let element = sample(String(type.dropFirst().dropLast())) else { return nil }
            return ("[\(element.swift)]", "[\(element.json ?? "null")]")
        }
        return switch type {
        case "String": (#""some""#, #""some""#)
        case "Int": ("1", "1")
        case "Double": ("0.5", "0.5")
        case "Bool": ("true", "true")
        default: nil
        }
    }
}

extension StringProtocol {
    func trimming(while isTrimmed: (Character) -> Bool) -> SubSequence {
        let start = drop(while: isTrimmed)
        return start.lastIndex { !isTrimmed($0) }.map { start[...$0] } ?? start[start.endIndex...]
    }
}
