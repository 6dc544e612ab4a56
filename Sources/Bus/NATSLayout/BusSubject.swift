package import BusFormat
package import EventBus
internal import Support

/// A subject of the bus on NATS. ``SubjectFilters`` and ``StreamNames`` have the patterns that select subjects.
package enum BusSubject: Hashable, Sendable {
    // MARK: The journal, stream NAME

    /// A batch that is not the result of a durable consumer: `m.-.-.KIND.NAME.PP.BB`.
    case batch(MessageTokens)
    /// A batch of a durable consumer: `m.CONSUMER.HP.KIND.NAME.PP.BB`. HP is the partition whose owner may publish it.
    case results(ConsumerPartition, MessageTokens)
    /// A batch that settles dead letters: `m.~settle.0.+.+.+.+`. Two of them cannot be published at once, because each
    /// one expects the sequence of the last one.
    case settlement
    /// The ``GroupRecord`` of a durable consumer: `k.g.CONSUMER`.
    case group(consumer: String)
    /// The ``FenceRecord`` of a durable consumer's partition: `k.f.CONSUMER.PP`.
    case fence(ConsumerPartition)
    /// The progress of a durable consumer without messages: `k.p.CONSUMER.PP`.
    case progress(ConsumerPartition)
    /// The ``LeaseRecord`` of a producer's leased documents: `k.l.PRODUCER`.
    case lease(ProducerID)
    /// The ``CutOffRecord`` of a durable consumer: `k.x.CONSUMER`.
    case cutOffs(consumer: String)
    /// The ``StewardRecord``: `k.steward`.
    case steward
    /// The ``RemovalRecord``: `k.removal`.
    case removal

    // MARK: The documents, stream NAME_DOC

    /// A retained document: `d.TYPENAME.PP.SUBJECT.KEY`.
    case document(DocumentName)
    /// The sequence of the journal up to which the documents and dead letters are up to date: `d.~mark`.
    case documentWatermark
    /// The last position of each message type: `d.~types`.
    case typeTable
    /// The fence of the steward that writes the documents of a partition: `d.~f.PP`.
    case documentFence(Partition)
    /// The ``InventoryRecord`` of a stretch of the journal: `d.~inventory.FIRST`.
    case inventory(first: UInt64)

    // MARK: The dead letters, stream NAME_DEAD

    /// The fence of the steward that writes the dead letters: `x.~f`.
    case letterFence
    /// A dead letter: `x.CONSUMER.SEQUENCE`. The sequence is that of the batch that gave up the message.
    case deadLetter(consumer: String, sequence: UInt64)

    // MARK: Subjects without a stream

    /// A transient batch: `t.KIND.NAME.PP.BB`.
    case transient(MessageTokens)
    /// Asks for the processes that serve queries of a type: `q.who.NAME`.
    case queryServers(MessageType)
    /// The queries to one process: `q.to.INSTANCE`.
    case queries(to: String)
    case heartbeat
    /// The announcements of the leading steward.
    case alive

    package func text(in namespace: String) -> String {
        namespace + "." + path
    }

    private var path: String {
        switch self {
        case .batch(let tokens): "m.-.-.\(tokens.text)"
        case .results(let owner, let tokens): "m.\(owner.tokens).\(tokens.text)"
        case .settlement: "m.~settle.0.\(MessageTokens.mixed.text)"
        case .group(let consumer): "k.g.\(SubjectToken.encode(consumer))"
        case .fence(let owner): "k.f.\(owner.tokens)"
        case .progress(let owner): "k.p.\(owner.tokens)"
        case .lease(let producer): "k.l.\(producer.hexadecimal)"
        case .cutOffs(let consumer): "k.x.\(SubjectToken.encode(consumer))"
        case .steward: "k.steward"
        case .removal: "k.removal"
        case .document(let name):
            "d.\(SubjectToken.encode(name.type.name)).\(Partition(subject: name.subject).token)."
                + "\(SubjectToken.encode(name.subject)).\(SubjectToken.encode(name.key ?? ""))"
        case .documentWatermark: "d.~mark"
        case .typeTable: "d.~types"
        case .documentFence(let partition): "d.~f.\(partition.token)"
        case .inventory(let first): "d.~inventory.\(first)"
        case .letterFence: "x.~f"
        case .deadLetter(let consumer, let sequence): "x.\(SubjectToken.encode(consumer)).\(sequence)"
        case .transient(let tokens): "t.\(tokens.text)"
        case .queryServers(let type): "q.who.\(SubjectToken.encode(type.name))"
        case .queries(let instance): "q.to.\(SubjectToken.encode(instance))"
        case .heartbeat: "hb"
        case .alive: "alive"
        }
    }

    /// Reads a subject. Nil if it is not one of this namespace, or not written as ``text(in:)`` writes it.
    package init?(_ text: String, in namespace: String) {
        let parts = text.split(scalar: ".", omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[0] == namespace else { return nil }
        let rest = parts[2...]
        let subject: BusSubject? =
            switch parts[1] {
            case "m": Self.journalSubject(rest)
            case "k": Self.recordSubject(rest)
            case "d": Self.documentSubject(rest)
            case "x": Self.deadLetterSubject(rest)
            case "t": MessageTokens(rest).map { .transient($0) }
            case "q": Self.querySubject(rest)
            case "hb" where rest.isEmpty: .heartbeat
            case "alive" where rest.isEmpty: .alive
            default: nil
            }
        // Each subject has one spelling: "01" is not a sequence, and "~61" is not a token.
        guard let subject, subject.text(in: namespace).utf8.elementsEqual(text.utf8) else { return nil }
        self = subject
    }

    private static func journalSubject(_ parts: ArraySlice<Substring>) -> BusSubject? {
        guard parts.count == 6, let consumer = parts.first, let tokens = MessageTokens(parts.suffix(4)) else {
            return nil
        }
        switch (consumer, parts[parts.startIndex + 1]) {
        case ("-", "-"): return .batch(tokens)
        case ("~settle", "0"): return tokens == .mixed ? .settlement : nil
        default: return ConsumerPartition(parts.prefix(2)).map { .results($0, tokens) }
        }
    }

    private static func recordSubject(_ parts: ArraySlice<Substring>) -> BusSubject? {
        let rest = parts.dropFirst()
        switch (parts.first, rest.count) {
        case ("steward", 0): return .steward
        case ("removal", 0): return .removal
        case ("g", 1): return consumer(rest.first).map { .group(consumer: $0) }
        case ("x", 1): return consumer(rest.first).map { .cutOffs(consumer: $0) }
        case ("l", 1): return rest.first.flatMap { ProducerID(hexadecimal: $0) }.map { .lease($0) }
        case ("f", 2): return ConsumerPartition(rest).map { .fence($0) }
        case ("p", 2): return ConsumerPartition(rest).map { .progress($0) }
        default: return nil
        }
    }

    private static func documentSubject(_ parts: ArraySlice<Substring>) -> BusSubject? {
        let parts = Array(parts)
        switch (parts.first, parts.count) {
        case ("~mark", 1): return .documentWatermark
        case ("~types", 1): return .typeTable
        case ("~f", 2): return Partition(token: parts[1]).map { .documentFence($0) }
        case ("~inventory", 2): return UInt64(parts[1]).map { .inventory(first: $0) }
        case (let name?, 4):
            guard let name = SubjectToken.decode(name), let subject = SubjectToken.decode(parts[2]),
                let key = SubjectToken.decode(parts[3]), case let type = MessageType(kind: .document, name: name),
                type.isValid
            else { return nil }
            return .document(DocumentName(type, subject: subject, key: key))
        default: return nil
        }
    }

    private static func deadLetterSubject(_ parts: ArraySlice<Substring>) -> BusSubject? {
        if parts.elementsEqual(["~f"]) { return .letterFence }
        guard parts.count == 2, let consumer = consumer(parts.first), let sequence = parts.last.flatMap({ UInt64($0) })
        else { return nil }
        return .deadLetter(consumer: consumer, sequence: sequence)
    }

    private static func querySubject(_ parts: ArraySlice<Substring>) -> BusSubject? {
        guard parts.count == 2, let last = parts.last, let text = SubjectToken.decode(last) else { return nil }
        switch parts.first {
        case "who":
            let type = MessageType(kind: .query, name: text)
            return type.isValid ? .queryServers(type) : nil
        case "to": return .queries(to: text)
        default: return nil
        }
    }

    fileprivate static func consumer(_ token: Substring?) -> String? {
        guard let name = token.flatMap({ SubjectToken.decode($0) }), !name.isEmpty else { return nil }
        return name
    }
}

/// One partition of a durable consumer: what a claim owns, and a fence protects.
package struct ConsumerPartition: Hashable, Sendable {
    package let consumer: String
    package let partition: Partition

    package init(_ consumer: String, _ partition: Partition) {
        self.consumer = consumer
        self.partition = partition
    }

    fileprivate init?(_ tokens: ArraySlice<Substring>) {
        guard tokens.count == 2, let consumer = BusSubject.consumer(tokens.first),
            let partition = tokens.last.flatMap({ Partition(token: $0) })
        else { return nil }
        self.init(consumer, partition)
    }

    fileprivate var tokens: String { "\(SubjectToken.encode(consumer)).\(partition.token)" }
}
