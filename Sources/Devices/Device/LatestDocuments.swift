internal import Contracts
public import EventBus
internal import Navigation
internal import Support

/// The newest document of each type and key in a session, and the answers to the queries that were asked about them.
public struct LatestDocuments: Sendable {
    private struct Entry {
        /// The id of the message.
        let id: String
        let type: MessageType
        let key: String?
        let data: JSONValue
        /// The decoded document. Nil if its type was not declared.
        let document: (any DocumentMessage)?
    }

    /// The maximum number of documents of undeclared types. If there are more, the first of them is removed.
    private static let limit = 64
    /// The documents of the platform itself, which are not shown as rows.
    private static let hidden = Set(PlatformMessages.all.types + [PlatformMessages.errorQueue])

    private let types: [MessageType: any DocumentMessage.Type]
    /// The documents in the order in which they first appeared.
    private var entries: [Entry] = []
    /// The queries about the documents of declared types.
    var questions = Questions()

    /// - Parameter types: The declared types, whose documents are decoded.
    public init(of types: [any DocumentMessage.Type] = []) {
        let all = types + [Document.ErrorBanner.self]
        self.types = Dictionary(all.map { ($0.type, $0) }) { first, _ in first }
    }

    /// The newest document of a declared type. Nil if there is none, or if it was withdrawn.
    /// - Parameter key: The document's key. Nil for a type without keys.
    public subscript<D: DocumentMessage>(_ type: D.Type, key: String? = nil) -> D? {
        entries.first { $0.type == type.type && $0.key == key }?.document as? D
    }

    /// The answers to the queries that actions of screens have asked, in the order in which they were asked. Answers
    /// about a document are left out after the document was replaced or withdrawn.
    public func answers<Query: QueryMessage>(to type: Query.Type) -> [(query: Query, answer: Query.Answer)] {
        questions.answers(to: type)
    }

    /// Stores a document, or removes a withdrawn document. Documents of the platform itself, except error banners and
    /// declared types, and messages that are not documents change nothing.
    /// - Returns: True if a document was stored or removed.
    /// - Throws: `BusError` if the document cannot be read. The previous document is kept.
    @discardableResult
    public mutating func receive(_ message: Envelope) throws -> Bool {
        let type = types[message.type]
        guard message.type.kind == .document, type != nil || !Self.hidden.contains(message.type) else { return false }
        let place = entries.firstIndex { $0.type == message.type && $0.key == message.attributes.key }
        if message.isTombstone {
            questions.forget(about: message.type)
            if let place { entries.remove(at: place) }
            return place != nil
        }
        guard let data = try? JSONValue(parsing: message.data) else {
            throw BusError(.malformed, "\(message.type) \(message.id) has data that is not JSON")
        }
        let entry = Entry(
            id: message.id, type: message.type, key: message.attributes.key, data: data,
            document: try type.map { try message.decode($0) })
        // A subscription that begins again delivers the same document again.
        if place.map({ entries[$0].id }) != message.id { questions.forget(about: message.type) }
        if let place {
            entries[place] = entry
        } else {
            entries.append(entry)
            forgetOldest()
        }
        return true
    }

    private mutating func forgetOldest() {
        let others = entries.indices.filter { entries[$0].document == nil }
        if others.count > Self.limit { entries.remove(at: others[0]) }
    }

    /// A section for each document with its fields, for screens without a view model.
    var sections: [ScreenContent.Section] {
        entries.filter { !Self.hidden.contains($0.type) }.map { entry in
            ScreenContent.Section(
                header: entry.key.map { "\(entry.type.name) \($0)" } ?? entry.type.name, rows: entry.data.rows())
        }
    }
}

extension JSONValue {
    /// The maximum depth of indented lines. Deeper values are written as JSON on one line.
    private static let depthLimit = 3
    /// The maximum number of members of a list or object that are shown. If there are more, a note with their number
    /// follows.
    private static let countLimit = 20

    /// The value as rows for people: `name: Ann`. Members of lists and objects are one level deeper.
    func rows(depth: Int = 0) -> [ScreenContent.Row] {
        let members: [(String, JSONValue)] =
            switch self {
            case .object(let object): object.sorted { $0.key < $1.key }.map { ("\($0.key):", $0.value) }
            case .array(let elements): elements.map { ("-", $0) }
            default: [("", self)]
            }
        let rows = members.prefix(Self.countLimit).flatMap { name, value -> [ScreenContent.Row] in
            if let text = value.text(depth: depth) { return [ScreenContent.Row("\(name) \(text)", depth: depth)] }
            return [ScreenContent.Row(name, depth: depth)] + value.rows(depth: depth + 1)
        }
        let missing = members.count - Self.countLimit
        return rows + (missing > 0 ? [ScreenContent.Row("… \(missing) more", depth: depth)] : [])
    }

    /// The text of the value on the line of its name. Nil if the value is shown on the next lines.
    private func text(depth: Int) -> String? {
        switch self {
        case .string(let text): text
        case .object(let members) where !members.isEmpty && depth < Self.depthLimit: nil
        case .array(let elements) where !elements.isEmpty && depth < Self.depthLimit: nil
        default: description
        }
    }
}
