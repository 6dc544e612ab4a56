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
        Document.ScreenWork.type, Document.ServiceContract.type, Document.Flow.type,
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
