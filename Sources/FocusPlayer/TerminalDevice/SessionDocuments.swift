internal import Contracts
internal import EventBus
internal import Navigation

/// The newest documents of a session, whatever they are: what a flow's screens show when nobody has written view models
/// for them.
struct SessionDocuments: Sendable {
    /// Many more than fit on a terminal.
    private static let limit = 64
    /// What the platform itself needs, and shows in ways of its own.
    private static let hidden: Set<MessageType> = [
        Document.NavigationState.type, Document.Presence.type, Document.ErrorBanner.type,
        Document.ScreenWork.type, Document.ServiceContract.type,
    ]

    private struct Entry {
        let type: MessageType
        let key: String?
        var data: JSONValue
    }

    /// In the order in which they appeared, so that what changes stays where it is.
    private var entries: [Entry] = []

    /// Takes a document; a withdrawn one is gone.
    /// - Returns: whether there is something else to show now.
    /// - Throws: ``BusError`` if it is no JSON; the one before stays.
    mutating func receive(_ message: Envelope) throws -> Bool {
        guard message.type.kind == .document, !Self.hidden.contains(message.type) else { return false }
        let place = entries.firstIndex { $0.type == message.type && $0.key == message.attributes.key }
        if message.isTombstone {
            if let place { entries.remove(at: place) }
            return place != nil
        }
        guard let data = try? JSONValue(parsing: message.data) else {
            throw BusError(.malformed, "\(message.type) \(message.id) has data that is not JSON")
        }
        if let place {
            entries[place].data = data
        } else {
            entries.append(Entry(type: message.type, key: message.attributes.key, data: data))
            if entries.count > Self.limit { entries.removeFirst() }
        }
        return true
    }

    /// A line for each document and each of its fields.
    var rows: [String] {
        entries.flatMap { entry in
            [entry.key.map { "\(entry.type.name) \($0)" } ?? entry.type.name] + DocumentRows.rows(entry.data, depth: 1)
        }
    }
}

/// JSON as lines for people: `name: Ann`, what is inside of something indented.
enum DocumentRows {
    /// How deep one can still read on a terminal; what is deeper is JSON on one line.
    private static let depthLimit = 3
    /// Of one list or object; more is for `segue get`.
    private static let countLimit = 20

    static func rows(_ value: JSONValue, depth: Int = 0) -> [String] {
        let members: [(String, JSONValue)] =
            switch value {
            case .object(let object): object.sorted { $0.key < $1.key }.map { ("\($0.key):", $0.value) }
            case .array(let elements): elements.map { ("-", $0) }
            default: [("", value)]
            }
        let indent = String(repeating: "  ", count: depth)
        return members.prefix(countLimit).flatMap { name, value -> [String] in
            if let text = text(value, depth: depth) { return ["\(indent)\(name) \(text)"] }
            return ["\(indent)\(name)"] + rows(value, depth: depth + 1)
        } + (members.count > countLimit ? ["\(indent)… \(members.count - countLimit) more"] : [])
    }

    /// What stands beside a name; nil for what takes lines of its own.
    private static func text(_ value: JSONValue, depth: Int) -> String? {
        switch value {
        case .string(let text): text
        case .object(let members) where !members.isEmpty && depth < depthLimit: nil
        case .array(let elements) where !elements.isEmpty && depth < depthLimit: nil
        default: value.description
        }
    }
}
