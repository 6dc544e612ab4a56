/// The five roles a message can play; the first word of its type on the wire.
public enum MessageKind: String, Codable, Sendable, CaseIterable {
    /// One intent. Every subscriber hears it, each durable group handles it once.
    case command
    /// Something that happened.
    case event
    /// Something that failed.
    case error
    /// What is true now. Retained: a late joiner gets the last one.
    case document
    /// A question with one reply. Never journalled.
    case query

    /// Reads a kind without making a text of it.
    init?(utf8 text: UnsafeBufferPointer<UInt8>) {
        guard let kind = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(text) }) else { return nil }
        self = kind
    }
}
