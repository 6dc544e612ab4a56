internal import EventBus
internal import Foundation
internal import Navigation

extension Choice {
    /// The command's name, as in `PlaylistSelected`.
    var name: String { type(of: command).name }

    /// How well a line names this choice; nil if it does not. Less is better.
    func distance(to line: String) -> Int? {
        let wanted = line.lowercased()
        let label = label.lowercased()
        if label == wanted { return 0 }
        // "Calm" is "Calm · anna · 12 songs", and goes before "Calmer · …".
        if label.hasPrefix("\(wanted) ·") { return 1 }
        if isCommand(line) { return 2 }
        return label.hasPrefix(wanted) ? 3 : nil
    }

    /// Whether a line is the command's name, perhaps with the value of one of its fields: `PlaylistSelected calm`.
    private func isCommand(_ line: String) -> Bool {
        let words = line.split(separator: " ", maxSplits: 1)
        guard let first = words.first, first == name || first == "\(type(of: command).type)" else { return false }
        guard words.count == 2 else { return true }
        guard let data = try? JSONEncoder().encode(command), let fields = try? JSONValue(parsing: data) else {
            return false
        }
        return fields.objectValue?.values.contains(.string(String(words[1]))) ?? false
    }
}
