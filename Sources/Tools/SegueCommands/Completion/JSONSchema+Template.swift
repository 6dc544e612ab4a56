internal import Contracts
internal import Navigation

extension JSONSchema {
    /// A value of this form with nothing in it, to be filled in: the fields that have to be there, or else all.
    var template: JSONValue {
        switch self {
        case .any, .map: [:]
        case .boolean: false
        case .integer, .number: 0
        case .string, .enumeration: ""
        case .array: []
        case .nullable: .null
        case .object(let members): .object(Self.template(of: members))
        }
    }

    private static func template(of members: [String: Property]) -> [String: JSONValue] {
        let words = members.filter(\.key.isWord)
        let required = words.filter(\.value.isRequired)
        return (required.isEmpty ? words : required).mapValues(\.schema.template)
    }
}

extension String {
    /// Whether a shell takes it for nothing but itself. What is offered to bash is expanded by it, `$(…)` too, and names
    /// of fields come from whoever is on the bus.
    var isWord: Bool { !isEmpty && utf8.allSatisfy(Self.wordBytes.contains) }

    private static let wordBytes = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-".utf8)
}
