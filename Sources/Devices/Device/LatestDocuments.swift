internal import Contracts
public import EventBus
internal import Navigation
internal import Support

/// The newest documents of a session; fed with envelopes, in any order of types.
public struct LatestDocuments: Sendable {
    private struct Entry {
        let type: MessageType
        let key: String?
        let data: JSONValue
        /// nil of a type that nobody has declared.
        let document: (any DocumentMessage)?
    }

    /// How many documents of other types than the declared ones are kept: many more than fit on a screen.
    private static let limit = 64
    /// What the platform itself needs, and shows in ways of its own.
    private static let hidden = Set(PlatformMessages.all.types + [MessageType(kind: .document, name: "ErrorQueue")])

    private let types: [MessageType: any DocumentMessage.Type]
    /// In the order in which they appeared, so that what changes stays where it is.
    private var entries: [Entry] = []

    /// - Parameter types: those that are read by their type.
    public init(of types: [any DocumentMessage.Type] = []) {
        let all = types + [Document.ErrorBanner.self]
        self.types = Dictionary(all.map { ($0.type, $0) }) { first, _ in first }
    }

    /// The newest document of a declared type; nil if there is none, or it was withdrawn.
    /// - Parameter key: tells it from others of its type.
    public subscript<D: DocumentMessage>(_ type: D.Type, key: String? = nil) -> D? {
        entries.first { $0.type == type.type && $0.key == key }?.document as? D
    }

    /// Takes a document; a withdrawn one is gone. Other messages change nothing.
    /// - Returns: whether there is something else to show now.
    /// - Throws: ``BusError`` if it cannot be read; the one before stays.
    @discardableResult
    public mutating func receive(_ message: Envelope) throws -> Bool {
        let type = types[message.type]
        guard message.type.kind == .document, type != nil || !Self.hidden.contains(message.type) else { return false }
        let place = entries.firstIndex { $0.type == message.type && $0.key == message.attributes.key }
        if message.isTombstone {
            if let place { entries.remove(at: place) }
            return place != nil
        }
        guard let data = try? JSONValue(parsing: message.data) else {
            throw BusError(.malformed, "\(message.type) \(message.id) has data that is not JSON")
        }
        let entry = Entry(
            type: message.type, key: message.attributes.key, data: data,
            document: try type.map { try message.decode($0) })
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

    /// A line for each document and each of its fields, for screens that nobody has drawn.
    var rows: [String] {
        entries.filter { !Self.hidden.contains($0.type) }.flatMap { entry in
            [entry.key.map { "\(entry.type.name) \($0)" } ?? entry.type.name] + entry.data.rows(depth: 1)
        }
    }
}

extension JSONValue {
    /// How deep one can still read in lines of text; what is deeper is JSON on one line.
    private static let depthLimit = 3
    /// Of one list or object; more is for `segue get`.
    private static let countLimit = 20

    /// Lines for people: `name: Ann`, what is inside of something indented.
    func rows(depth: Int = 0) -> [String] {
        let members: [(String, JSONValue)] =
            switch self {
            case .object(let object): object.sorted { $0.key < $1.key }.map { ("\($0.key):", $0.value) }
            case .array(let elements): elements.map { ("-", $0) }
            default: [("", self)]
            }
        let indent = String(repeating: "  ", count: depth)
        return members.prefix(Self.countLimit).flatMap { name, value -> [String] in
            if let text = value.text(depth: depth) { return ["\(indent)\(name) \(text)"] }
            return ["\(indent)\(name)"] + value.rows(depth: depth + 1)
        } + (members.count > Self.countLimit ? ["\(indent)… \(members.count - Self.countLimit) more"] : [])
    }

    /// What is written beside a name; nil for what takes lines of its own.
    private func text(depth: Int) -> String? {
        switch self {
        case .string(let text): text
        case .object(let members) where !members.isEmpty && depth < Self.depthLimit: nil
        case .array(let elements) where !elements.isEmpty && depth < Self.depthLimit: nil
        default: description
        }
    }
}
