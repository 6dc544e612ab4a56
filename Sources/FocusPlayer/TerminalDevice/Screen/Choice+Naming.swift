internal import EventBus
internal import Foundation
internal import Navigation

extension Choice {
    /// How well a line names this choice; nil if it does not. Less is better.
    func distance(to line: String) -> Int? {
        let wanted = line.split(whereSeparator: \.isWhitespace).joined(separator: " ").lowercased()
        let label = label.lowercased()
        if label == wanted { return 0 }
        // "Calm" is "Calm · anna · 12 songs", and goes before "Calmer · …".
        if label.hasPrefix("\(wanted) ·") { return 1 }
        if isCommand(line) { return 2 }
        return label.hasPrefix(wanted) ? 3 : nil
    }

    /// The same with the fields that a line gives it, if it is one that takes fields.
    /// - Throws: ``TypedFields/Mistake``
    func filled(from line: String) throws(TypedFields.Mistake) -> Choice {
        guard case .named(let type, _) = content, let rest = text(after: type, in: line), !rest.isEmpty else {
            return self
        }
        return Choice(type, fields: try TypedFields.read(rest), on: instance, outcome: outcome)
    }

    /// Whether a line is the command's name, perhaps with the value of one of its fields, `PlaylistSelected calm`, or
    /// with fields where it takes any.
    private func isCommand(_ line: String) -> Bool {
        guard let rest = text(after: type, in: line) else { return false }
        guard !rest.isEmpty, let command else { return true }
        guard let data = try? JSONEncoder().encode(command), let fields = try? JSONValue(parsing: data) else {
            return false
        }
        return fields.objectValue?.values.contains(.string(rest)) ?? false
    }

    /// What follows the command's name; nil if the line does not begin with it.
    private func text(after type: MessageType, in line: String) -> String? {
        let words = line.split(maxSplits: 1, whereSeparator: \.isWhitespace)
        guard let first = words.first, first == type.name || first == type.description else { return nil }
        return words.count == 2 ? words[1].trimmingCharacters(in: .whitespaces) : ""
    }
}
