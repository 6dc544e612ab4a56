public import Foundation
internal import Support

/// The content of an ``InMemoryHub`` that a program keeps across restarts: the retained documents, the progress of the
/// durable consumers, the messages that one of them has not handled, and the dead letters.
public struct SavedHub: Sendable {
    private static let format = "segue-bus"
    private static let version = 1
    /// Larger numbers are refused, so that none of them overflows when it grows.
    private static let largest = UInt64(Int64.max) / 2

    let journal: InMemoryJournal
    let documents: [DocumentName: Envelope]
    /// The documents that the bus withdraws when their publishers end.
    let leased: Set<DocumentName>
    let groups: [String: ConsumerGroup]
    let forgottenGeneration: UInt64
    let deadLetters: [DeadLetter]
    let lastDeadLetter: Int64

    /// The content after all publishers have ended.
    var withoutLeases: SavedHub {
        var (journal, documents) = (journal, documents)
        _ = journal.append(leased.compactMap { documents.removeValue(forKey: $0)?.withdrawal })
        return SavedHub(
            journal: journal, documents: documents, leased: [], groups: groups,
            forgottenGeneration: forgottenGeneration,
            deadLetters: deadLetters, lastDeadLetter: lastDeadLetter)
    }

    /// The bytes to keep: JSON that ``init(_:)`` reads.
    /// - Throws: `EncodingError`.
    public func data() throws -> Data {
        try JSONWriter.data(
            of: Content(
                format: Self.format, version: Self.version, epoch: journal.epoch, base: journal.base,
                newest: Dictionary(uniqueKeysWithValues: journal.newest.map { ($0.key.description, $0.value) }),
                journal: journal.messages(after: journal.base).map { Content.Message($0) },
                documents: documents.values.sorted { $0.offset < $1.offset }.map {
                    Content.Message($0, isLeased: leased.contains(DocumentName($0)))
                },
                consumers: groups.mapValues { Content.Consumer($0) }, forgottenGeneration: forgottenGeneration,
                deadLetters: deadLetters.map { Content.Letter($0) }, lastDeadLetter: lastDeadLetter))
    }
}

extension SavedHub {
    /// Reads the bytes of ``data()``.
    /// - Throws: ``BusError`` with code `malformed` if the bytes are damaged, are something else, or have another
    ///   version.
    public init(_ data: Data) throws(BusError) {
        let head = try Self.decode(Head.self, from: data)
        guard head.format == Self.format else { throw Self.unreadable("they are not those of a bus") }
        guard head.version == Self.version else {
            throw Self.unreadable("their version is \(head.version), but this program reads version \(Self.version)")
        }
        try self.init(try Self.decode(Content.self, from: data))
    }

    private init(_ content: Content) throws(BusError) {
        let numbers = [content.base, content.forgottenGeneration, UInt64(clamping: content.lastDeadLetter)]
        guard content.epoch > 0, content.lastDeadLetter >= 0, numbers.allSatisfy({ $0 <= Self.largest }) else {
            throw Self.unreadable("a number is not possible")
        }
        var end = content.base
        var messages: [Envelope] = []
        for message in content.journal {
            guard end < Self.largest else { throw Self.unreadable("an offset is not possible") }
            messages.append(try message.envelope(in: content.epoch, at: end + 1...Self.largest))
            end = message.offset
        }
        var newest: [MessageType: UInt64] = [:]
        for (text, offset) in content.newest {
            guard let type = MessageType(text), offset > 0, offset <= end else {
                throw Self.unreadable("the newest message of a type is at an impossible offset")
            }
            newest[type] = offset
        }
        journal = InMemoryJournal(epoch: content.epoch, base: content.base, messages: messages, newest: newest)

        var documents: [DocumentName: Envelope] = [:]
        var leased: Set<DocumentName> = []
        for message in content.documents {
            let document = try message.envelope(in: content.epoch, at: 1...max(1, end))
            guard document.offset <= end, document.type.kind == .document, !document.isTombstone,
                documents.updateValue(document, forKey: DocumentName(document)) == nil
            else { throw Self.unreadable("\(document.type) is not a retained document, or is there twice") }
            if message.isLeased == true { leased.insert(DocumentName(document)) }
        }
        self.documents = documents
        self.leased = leased

        var groups: [String: ConsumerGroup] = [:]
        for (name, consumer) in content.consumers {
            do { try Rules.checkConsumer(name) } catch { throw Self.unreadable(error.message) }
            guard consumer.ownerGeneration <= Self.largest, consumer.handled.count == Partition.count,
                consumer.handled.allSatisfy({ $0 <= end })
            else { throw Self.unreadable("the progress of the durable consumer '\(name)' is not possible") }
            groups[name] = ConsumerGroup(ownerGeneration: consumer.ownerGeneration, handled: consumer.handled)
        }
        self.groups = groups
        forgottenGeneration = content.forgottenGeneration

        deadLetters = try Self.deadLetters(content, end: end)
        lastDeadLetter = content.lastDeadLetter
    }

    private static func deadLetters(_ content: Content, end: UInt64) throws(BusError) -> [DeadLetter] {
        var deadLetters: [DeadLetter] = []
        for deadLetter in content.deadLetters {
            guard deadLetter.id > deadLetters.last?.id ?? 0, deadLetter.id <= content.lastDeadLetter,
                let time = Timestamp.date(from: deadLetter.time)
            else { throw unreadable("a dead letter has an impossible number or time") }
            deadLetters.append(
                DeadLetter(
                    id: deadLetter.id, consumer: deadLetter.consumer,
                    rejection: Rejection(
                        code: deadLetter.code, reason: deadLetter.reason, attempts: deadLetter.attempts),
                    time: time, message: try deadLetter.message.envelope(in: content.epoch, at: 1...max(1, end))))
        }
        return deadLetters
    }

    private static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws(BusError) -> Value {
        do {
            return try JSONReader.decode(type, from: data)
        } catch {
            throw unreadable((error as? DecodingError)?.summary ?? "\(error)")
        }
    }

    fileprivate static func unreadable(_ reason: String) -> BusError {
        BusError(.malformed, "the saved messages cannot be read: \(reason)")
    }
}

/// The fields that every version of the format has.
private struct Head: Decodable {
    let format: String
    let version: Int
}

/// The format of version 1.
private struct Content: Codable {
    struct Message: Codable {
        let offset: UInt64
        let attributes: Attributes
        /// The bytes of the message, in Base64.
        let data: Data
        /// Nil for a message that is not a leased document.
        let isLeased: Bool?

        init(_ message: Envelope, isLeased: Bool = false) {
            offset = message.offset
            attributes = message.attributes
            data = message.data
            self.isLeased = isLeased ? true : nil
        }

        /// - Parameter offsets: The possible offsets of the message.
        func envelope(in epoch: UInt64, at offsets: ClosedRange<UInt64>) throws(BusError) -> Envelope {
            guard offsets.contains(offset) else {
                throw SavedHub.unreadable("\(attributes.type) has the offset \(offset), which is not possible")
            }
            let message = Envelope(
                attributes: attributes, data: data, position: Position(epoch: epoch, offset: offset))
            do { try message.check() } catch { throw SavedHub.unreadable(error.message) }
            return message
        }
    }

    struct Consumer: Codable {
        let ownerGeneration: UInt64
        /// The offset up to which each partition is handled, by the number of the partition.
        let handled: [UInt64]

        init(_ group: ConsumerGroup) {
            ownerGeneration = group.ownerGeneration
            handled = Partition.all.map { group.handled($0) }
        }

        private enum CodingKeys: String, CodingKey {
            case ownerGeneration = "ownerEpoch"
            case handled
        }
    }

    struct Letter: Codable {
        let id: Int64
        let consumer: String
        let code: String
        let reason: String
        let attempts: Int
        let time: String
        let message: Message

        init(_ deadLetter: DeadLetter) {
            id = deadLetter.id
            consumer = deadLetter.consumer
            code = deadLetter.rejection.code
            reason = deadLetter.rejection.reason
            attempts = deadLetter.rejection.attempts
            time = Timestamp.text(of: deadLetter.time)
            message = Message(deadLetter.message)
        }
    }

    let format: String
    let version: Int
    let epoch: UInt64
    let base: UInt64
    let newest: [String: UInt64]
    let journal: [Message]
    let documents: [Message]
    let consumers: [String: Consumer]
    let forgottenGeneration: UInt64
    let deadLetters: [Letter]
    let lastDeadLetter: Int64

    private enum CodingKeys: String, CodingKey {
        case format, version, epoch, base, newest, journal, documents, consumers
        case forgottenGeneration = "forgottenEpoch"
        case deadLetters = "letters"
        case lastDeadLetter = "lastLetter"
    }
}

extension Envelope {
    fileprivate var offset: UInt64 { position?.offset ?? 0 }
}
