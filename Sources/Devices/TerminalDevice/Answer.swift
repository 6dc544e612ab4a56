internal import Device
internal import EventBus
internal import Foundation
internal import Navigation
internal import Support

/// The meaning of a line of input.
enum Answer: Hashable, Sendable {
    case nothing
    /// A choice by its number on the screen.
    case number(Int)
    /// A choice by its label, the beginning of its label, or its command with or without fields: `Connect Spotify`,
    /// `PlaylistSelected calm`, `NameEntered name=Ann`.
    case text(String)
    case back
    case dismiss
    case dismissError
    /// Open the requested URL, or else the last URL on the screen.
    case openURL
    /// In a script: wait until a screen with this name is active: `@playlistSelection`.
    case screen(String)
    case quit

    init(_ line: String) {
        let text = String(line.trimmed)
        switch text {
        case "": self = .nothing
        case "b": self = .back
        case "d": self = .dismiss
        case "x": self = .dismissError
        case "o": self = .openURL
        case "q": self = .quit
        default:
            self =
                text.removing(prefix: "@").map { .screen(String($0)) } ?? Int(count: text).map(Answer.number)
                ?? .text(text)
        }
    }
}

/// Reads the fields of a command as a person types them: `name=Ann age=5 vegan=true`, or a JSON object.
///
/// A value that is JSON, such as a number, `true` or a string in quotes, is read as JSON. Any other value is a string.
enum TypedFields {
    /// The error of fields that cannot be read.
    struct Mistake: Error, Hashable, CustomStringConvertible {
        /// The problem and its remedy, on one line.
        let description: String
    }

    static func read(_ text: String) throws(Mistake) -> [String: JSONValue] {
        guard text.utf8.first == UInt8(ascii: "{") else { return try pairs(text) }
        guard let fields = (try? JSONValue(parsing: Data(text.utf8)))?.objectValue else {
            throw Mistake(description: "'\(text)' is not a JSON object; write it like {\"name\": \"Ann\"}")
        }
        return fields
    }

    private static func pairs(_ text: String) throws(Mistake) -> [String: JSONValue] {
        var fields: [String: JSONValue] = [:]
        for word in words(text) {
            guard let (name, value) = word.cut(at: "="), !name.isEmpty else {
                throw Mistake(description: "'\(word)' is not a field; write name=value, or name=\"two words\"")
            }
            guard fields.updateValue(Self.value(String(value)), forKey: String(name)) == nil else {
                throw Mistake(description: "duplicate field '\(name)'; remove one of them")
            }
        }
        return fields
    }

    private static func value(_ text: String) -> JSONValue {
        (try? JSONValue(parsing: Data(text.utf8))) ?? .string(text)
    }

    /// Splits a text at spaces, except in quotes.
    private static func words(_ text: String) -> [String] {
        var words = [""]
        var isQuoted = false
        var isEscaped = false
        for scalar in text.unicodeScalars {
            if scalar.properties.isWhitespace, !isQuoted {
                words.append("")
            } else {
                if scalar == "\"", !isEscaped { isQuoted.toggle() }
                isEscaped = scalar == "\\" && !isEscaped
                words[words.count - 1].unicodeScalars.append(scalar)
            }
        }
        return words.filter { !$0.isEmpty }
    }
}

extension Scene {
    /// The choice that an answer picks, with the fields of the answer. Nil if there is no such choice on the scene.
    /// - Throws: ``TypedFields/Mistake`` if the fields cannot be read.
    func pick(_ answer: Answer) throws(TypedFields.Mistake) -> Choice? {
        guard let choice = choice(for: answer) else { return nil }
        guard case .text(let line) = answer, choice.takesFields, let fields = choice.text(afterNameIn: line),
            !fields.isEmpty
        else { return choice }
        return choice.filled(with: try TypedFields.read(fields))
    }

    /// The choice that an answer names. Nil if there is no such choice on the scene.
    func choice(for answer: Answer) -> Choice? {
        switch answer {
        case .number(let number): choices.indices.contains(number - 1) ? choices[number - 1] : nil
        case .text(let line):
            // The first of the best matches.
            choices.compactMap { choice in choice.distance(to: line).map { (choice, $0) } }.min { $0.1 < $1.1 }?.0
        case .back: back
        case .dismiss: dismissal
        case .dismissError: bannerDismissal
        case .nothing, .quit, .screen, .openURL: nil
        }
    }
}

extension Choice {
    /// The rank of the line as a name of this choice; a smaller rank is a better match. Nil if the line does not name
    /// the choice.
    fileprivate func distance(to line: String) -> Int? {
        let wanted = line.words.joined(separator: " ").lowercased()
        let label = label.lowercased()
        if label == wanted { return 0 }
        // "Calm" matches "Calm · anna · 12 songs" better than "Calmer · …".
        if label.begins(with: "\(wanted) ·") { return 1 }
        if isCommand(line) { return 2 }
        return label.begins(with: wanted) ? 3 : nil
    }

    /// True if the line is the command's name, or its name and the value of one of its fields: `PlaylistSelected calm`.
    /// If the choice takes fields, any text may follow the name.
    private func isCommand(_ line: String) -> Bool {
        guard let rest = text(afterNameIn: line) else { return false }
        guard !rest.isEmpty, let command else { return true }
        guard let data = try? JSONEncoder().encode(command), let fields = try? JSONValue(parsing: data) else {
            return false
        }
        return fields.objectValue?.values.contains(.string(rest)) ?? false
    }

    /// The text after the command's name. Nil if the line does not begin with the name.
    fileprivate func text(afterNameIn line: String) -> String? {
        let line = line.trimmed
        guard let first = line.words.first, first == type.name || first == type.description else { return nil }
        return String(line[first.endIndex...].trimmed)
    }
}
