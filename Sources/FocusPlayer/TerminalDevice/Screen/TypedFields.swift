internal import Foundation
internal import Navigation

/// The fields of a command as a person types them: `name=Ann age=5 vegan=true`, or a JSON object.
///
/// A value that is JSON is that: a number, true, false, null, or a string in quotes. Any other is a string as it stands.
enum TypedFields {
    struct Mistake: Error, Hashable, CustomStringConvertible {
        let description: String
    }

    static func read(_ text: String) throws(Mistake) -> [String: JSONValue] {
        guard text.hasPrefix("{") else { return try pairs(text) }
        guard let fields = (try? JSONValue(parsing: Data(text.utf8)))?.objectValue else {
            throw Mistake(description: "'\(text)' is no JSON object; write it like {\"name\": \"Ann\"}")
        }
        return fields
    }

    private static func pairs(_ text: String) throws(Mistake) -> [String: JSONValue] {
        var fields: [String: JSONValue] = [:]
        for word in words(text) {
            guard let equals = word.firstIndex(of: "="), equals > word.startIndex else {
                throw Mistake(description: "'\(word)' is no field; write name=value, with quotes around spaces")
            }
            let value = String(word[word.index(after: equals)...])
            guard fields.updateValue(Self.value(value), forKey: String(word[..<equals])) == nil else {
                throw Mistake(description: "'\(word[..<equals])' stands twice; remove one")
            }
        }
        return fields
    }

    private static func value(_ text: String) -> JSONValue {
        (try? JSONValue(parsing: Data(text.utf8))) ?? .string(text)
    }

    /// Parts at spaces, but not at those within quotes.
    private static func words(_ text: String) -> [String] {
        var words = [""]
        var isQuoted = false
        var isEscaped = false
        for character in text {
            if character.isWhitespace, !isQuoted {
                words.append("")
            } else {
                if character == "\"", !isEscaped { isQuoted.toggle() }
                isEscaped = character == "\\" && !isEscaped
                words[words.count - 1].append(character)
            }
        }
        return words.filter { !$0.isEmpty }
    }
}
