internal import EventBus
internal import Foundation
internal import Monitor
internal import Support

/// A message as a row of a list. It keeps only the beginning of the data, so that many rows need little memory.
struct MessageRow: Sendable {
    /// The number of bytes of data from which the summary is made.
    private static let prefixSize = 1024
    /// The maximum length of the summary in Unicode scalars.
    private static let summaryLength = 200

    /// Nil for a transient message, which the journal does not have.
    let position: Position?
    let type: MessageType
    private let attributes: Attributes
    private let prefix: Data
    private let size: Int
    private let isTombstone: Bool

    init(_ message: Envelope) {
        position = message.position
        type = message.type
        attributes = message.attributes
        prefix = message.data.count > Self.prefixSize ? Data(message.data.prefix(Self.prefixSize)) : message.data
        size = message.data.count
        isTombstone = message.isTombstone
    }

    /// The message of a dead letter, without its data.
    init(_ deadLetter: DeadLetter.Summary) {
        position = deadLetter.message.position
        type = deadLetter.message.type
        attributes = deadLetter.message.attributes
        prefix = Data()
        size = deadLetter.dataSize
        isTombstone = deadLetter.isTombstone
    }

    /// The document of which this message is a version. Nil if it is not a document.
    var document: DocumentName? {
        type.kind == .document
            ? DocumentName(type, subject: attributes.subject, key: attributes.key) : nil
    }

    /// The offset in the journal; 0 for a transient message.
    var offset: UInt64 { position?.offset ?? 0 }
    var story: String { attributes.correlationID }
    var cause: String? { attributes.causationID }
    var id: String { attributes.id }
    var source: String { attributes.source }
    var time: Date { attributes.time }

    /// True if the row is in the journal of a position, and not after it.
    func isRecorded(through end: Position) -> Bool {
        position.map { $0.epoch == end.epoch && $0.offset <= end.offset } ?? false
    }

    /// An estimate of the length of ``json`` in bytes, which may be too high.
    var estimatedSize: Int { 420 + min(size, 2 * Self.summaryLength) }

    var json: JSONValue { .object(members) }

    var members: [String: JSONValue] {
        func text(_ value: String?) -> JSONValue { value.map(JSONValue.string) ?? .null }
        return [
            "position": text(position?.pageText), "id": text(attributes.id),
            "time": .string(Timestamp.text(of: attributes.time)), "kind": .string(type.kind.rawValue),
            "type": .string(type.description), "source": text(attributes.source), "session": text(attributes.subject),
            "key": text(attributes.key), "story": text(attributes.correlationID), "cause": text(attributes.causationID),
            "platform": text(attributes.platform), "device": text(attributes.device),
            "instance": text(attributes.instance), "summary": .string(summary), "size": .integer(size),
            "tombstone": .bool(isTombstone),
        ]
    }

    /// The data on one line, cut to ``summaryLength``.
    private var summary: String {
        if size == 0 { return "" }
        let text =
            if size <= Self.prefixSize, let json = JSONText(prefix) {
                json.description
            } else {
                String(decoding: prefix, as: UTF8.self).words.joined(separator: " ")
            }
        return text.shown(to: Self.summaryLength)
    }
}

extension String {
    /// The text without control characters, cut to a length in Unicode scalars.
    func shown(to length: Int) -> String {
        let scalars = String(unicodeScalars.prefix(length + 1)).printable.unicodeScalars
        if scalars.count <= length { return String(scalars) }
        return String(scalars.prefix(length - 1)) + "…"
    }
}

extension Position {
    /// The position in the form `EPOCH:OFFSET`, with a hexadecimal epoch.
    var pageText: String { "\(String(epoch, radix: 16)):\(offset)" }

    /// Reads ``pageText``.
    init?(pageText text: String) {
        guard let parts = text.cut(at: ":"), let epoch = UInt64(parts.before, radix: 16),
            let offset = Self.offset(parts.after)
        else { return nil }
        self.init(epoch: epoch, offset: offset)
    }
}
