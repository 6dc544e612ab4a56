import BusFormat
import BusProtocol
import EventBus

/// A model of the broker that `docs/wire-protocol.md` describes, as a value.
struct ModelBroker {
    /// A packet of the feed.
    enum Packet {
        case answer(inbox: String, epoch: UInt64, head: UInt64)
        case messages([FeedMessage])
    }

    struct Entry {
        let message: PublishedMessage
        let feed: FeedMessage
        var data: String { String(decoding: message.data, as: UTF8.self) }
    }

    /// The reply to a batch, and the end of the journal after it.
    private struct Answered {
        let reply: Reply
        let head: Int
    }

    private(set) var epoch: UInt64 = 1
    /// The offset after which the messages of this epoch begin.
    private(set) var start: UInt64 = 0
    /// The end of the journal when the broker was last started.
    private var firstHead: UInt64 = 0
    /// The last offset of each topic and of each partition.
    private var last: [Substring: UInt64] = [:]
    private(set) var journal: [Entry] = []
    private var answered: [UInt64: Answered] = [:]
    private var lastSequence: UInt64 = 0
    private var lastTransient: UInt64 = 0
    private var prefixes: [String: Int] = [:]
    private var packets: [Packet] = []
    /// The keys of the client's leased documents.
    private var leased: Set<String> = []
    private(set) var owner: ConsumerMember?
    private(set) var ownerGeneration: UInt64 = 0
    private var offsets: [Partition: UInt64] = [:]
    /// The queries that the client has received and not answered.
    private(set) var openQueries: Set<UInt64> = []
    private(set) var isServing = false
    /// True if the broker understands only the short hello of the first version.
    var isOld = false
    var isWritable = true
    /// False if the broker refuses all requests, because its journal cannot be read.
    var isReadable = true

    var head: UInt64 { UInt64(journal.count) }

    // MARK: Faults

    /// Restarts the broker: only the state in the journal remains.
    mutating func restart() {
        (prefixes, packets, lastTransient, openQueries, isServing) = ([:], [], 0, [], false)
        firstHead = head
    }

    /// Replaces the journal by a new one.
    mutating func replaceJournal() {
        epoch += 1
        start = 0
        cut(to: 0)
    }

    /// Removes the end of the journal, with the state that was recorded with it. Call it while no broker runs.
    mutating func cut(to end: Int) {
        journal.removeLast(journal.count - end)
        last = [:]
        for entry in journal { record(entry.feed) }
        answered = answered.filter { $0.value.head <= end }
        lastSequence = answered.keys.max() ?? 0
        leased = leased.intersection(documents.map(\.key))
        if end == 0 { (owner, offsets) = (nil, [:]) }
        offsets = offsets.mapValues { min($0, head) }
    }

    /// Forgets the producer and the sequence numbers of its batches.
    mutating func forgetProducer() {
        (answered, lastSequence) = ([:], 0)
    }

    /// Withdraws the leased documents, as if the client had been silent for too long.
    mutating func endLeases() {
        for key in leased.sorted() {
            guard let document = documents.first(where: { $0.key == key })?.entry.message else { continue }
            let withdrawal = PublishedMessage(
                topic: document.topic, subject: document.subject, key: document.key, header: document.header, data: [])
            append([withdrawal])
        }
        leased = []
    }

    /// Another member claims the partitions.
    mutating func takeOver() {
        owner = .shared
        ownerGeneration += 1
    }

    // MARK: The feed

    mutating func subscribe(_ prefix: String) {
        prefixes[prefix, default: 0] += 1
        if prefix.hasPrefix(Inbox.mark) { packets.append(.answer(inbox: prefix, epoch: epoch, head: head)) }
    }

    mutating func unsubscribe(_ prefix: String) {
        prefixes[prefix] = prefixes[prefix].flatMap { $0 > 1 ? $0 - 1 : nil }
    }

    mutating func drainPackets() -> [Packet] {
        defer { packets = [] }
        return packets
    }

    private mutating func show(_ messages: [FeedMessage]) {
        for message in messages where prefixes.keys.contains(where: { message.topic.hasPrefix($0) }) {
            if case .messages(let others)? = packets.last, others.first?.topic == message.topic {
                packets[packets.count - 1] = .messages(others + [message])
            } else {
                packets.append(.messages([message]))
            }
        }
    }

    // MARK: Requests

    /// Handles a request.
    mutating func answer(_ request: Request) -> Reply {
        guard isReadable else { return .refused(ProtocolError(.journal, "the journal cannot be read")) }
        switch request {
        case .hello(let greeting):
            if isOld, greeting.asksForMore { return .refused(ProtocolError(.malformed, "a frame is too long")) }
            return .welcome(welcome(greeting))
        case .bye(let greeting): return .welcome(welcome(greeting))
        case .publish(let batch): return handle(batch)
        case .read(let read): return page(read, journal.dropFirst(Int(read.after)))
        case .documents(let read):
            return page(read, documents.map(\.entry)[...])
        case .heads(let read):
            guard isHere(read) else { return .refused(ProtocolError(.epoch, "another journal")) }
            let grown = journal.dropFirst(Int(read.after)).filter { matches($0.feed, read.prefixes) }
            let heads = grown.reduce(into: [:]) { $0[$1.feed.topic] = $1.feed.offset }
            return .heads(Heads(epoch: epoch, through: head, offsets: heads))
        case .claim(let claim): return .claimed(claimed(claim))
        case .serve(let serve):
            isServing = !serve.types.isEmpty
            return .done
        case .answer(let answer):
            openQueries.remove(answer.query)
            return .done
        case .ask(let ask): return .answer(header: ask.query.header, data: ask.query.data)
        default: return .done
        }
    }

    /// Sends a query to the client.
    mutating func query(_ id: UInt64, type: MessageType) -> Notice {
        openQueries.insert(id)
        let topic = Topic(type, subject: "default").name
        return .query(id: id, PublishedMessage(topic: topic, subject: "default", key: "", header: [1], data: [2]))
    }

    mutating func cancelQuery(_ id: UInt64) -> Notice {
        openQueries.remove(id)
        return .cancel(id: id)
    }

    private mutating func welcome(_ greeting: Greeting) -> Welcome {
        if greeting.epoch == epoch, greeting.head > 0, greeting.mark != mark(at: greeting.head) {
            (epoch, start) = (epoch + 1, firstHead)
        }
        let more = Welcome.More(start: start, leased: UInt64(leased.count))
        return Welcome(
            epoch: epoch, head: head, sequence: lastSequence, mark: mark(at: head),
            more: greeting.asksForMore ? more : nil)
    }

    private func mark(at offset: UInt64) -> UInt64 {
        guard offset > 0, offset <= head else { return 0 }
        var hash: UInt64 = 5
        for byte in journal[Int(offset) - 1].message.data { hash = hash &* 31 &+ UInt64(byte) }
        return hash | 1
    }

    private mutating func handle(_ batch: PublishRequest) -> Reply {
        if batch.isTransient {
            guard batch.sequence > lastTransient else { return .published(epoch: epoch, offset: 0) }
            lastTransient = batch.sequence
            show(
                batch.contents.map {
                    FeedMessage(topic: $0.topic, epoch: epoch, offset: 0, previous: 0, header: $0.header, data: $0.data)
                })
            return .published(epoch: epoch, offset: 0)
        }
        if batch.sequence <= lastSequence {
            return answered[batch.sequence]?.reply ?? .published(epoch: epoch, offset: head)
        }
        guard batch.sequence == lastSequence + 1 else {
            return .refused(ProtocolError(.sequence, "\(lastSequence + 1) is expected"))
        }
        guard isWritable else { return .refused(ProtocolError(.journal, "the disk is full")) }
        let reply = journal(batch)
        lastSequence = batch.sequence
        answered[batch.sequence] = Answered(reply: reply, head: journal.count)
        return reply
    }

    private mutating func journal(_ batch: PublishRequest) -> Reply {
        if let checkpoint = batch.checkpoint {
            guard checkpoint.epoch == epoch, checkpoint.offset <= head else {
                return .refused(ProtocolError(.epoch, "another journal"))
            }
            guard checkpoint.ownerGeneration == ownerGeneration else {
                return .refused(ProtocolError(.fenced, "another owner"))
            }
            for partition in Partition.all {
                let isOwn = checkpoint.partition == nil || checkpoint.partition == partition
                offsets[partition] = max(
                    offsets[partition] ?? 0, isOwn ? checkpoint.offset : checkpoint.settled)
            }
        }
        append(batch.contents)
        for message in batch.contents where message.topic.hasPrefix("document.") {
            if batch.isLeased, !message.data.isEmpty {
                leased.insert(message.name)
            } else {
                leased.remove(message.name)
            }
        }
        return .published(epoch: epoch, offset: head)
    }

    private mutating func append(_ messages: [PublishedMessage]) {
        for message in messages {
            let (topic, partition) = (message.topic, message.topic.suffix(3))
            let feed = FeedMessage(
                topic: topic, epoch: epoch, offset: head + 1,
                previous: last[topic[...]] ?? 0, previousInPartition: last[partition] ?? 0,
                header: message.header, data: message.data)
            journal.append(Entry(message: message, feed: feed))
            record(feed)
            show([feed])
        }
    }

    private mutating func record(_ message: FeedMessage) {
        last[message.topic[...]] = message.offset
        last[message.topic.suffix(3)] = message.offset
    }

    /// The retained documents, sorted by offset.
    var documents: [(key: String, entry: Entry)] {
        var last: [String: Entry] = [:]
        for entry in journal where entry.feed.topic.hasPrefix("document.") { last[entry.message.name] = entry }
        return last.filter { !$0.value.message.data.isEmpty }.sorted { $0.value.feed.offset < $1.value.feed.offset }
            .map { ($0.key, $0.value) }
    }

    private func isHere(_ read: PageRequest) -> Bool {
        [0, epoch].contains(read.epoch) && read.after <= head
    }

    private func matches(_ message: FeedMessage, _ prefixes: [String]) -> Bool {
        prefixes.contains { message.topic.hasPrefix($0) }
    }

    /// Creates a page of at most five messages.
    private func page(_ read: PageRequest, _ entries: ArraySlice<Entry>) -> Reply {
        guard isHere(read) else { return .refused(ProtocolError(.epoch, "another journal")) }
        let matching = entries.filter { $0.feed.offset > read.after && matches($0.feed, read.prefixes) }
        let some = matching.prefix(5)
        let isComplete = some.count == matching.count
        let messages = some.map {
            FeedMessage(
                topic: $0.feed.topic, epoch: epoch, offset: $0.feed.offset, previous: $0.feed.previous,
                previousInPartition: 0, header: $0.feed.header, data: $0.feed.data)
        }
        return .page(
            Page(
                epoch: epoch, through: isComplete ? head : some.last?.feed.offset ?? head, isComplete: isComplete,
                messages: messages))
    }

    private mutating func claimed(_ claim: ClaimRequest) -> Claimed {
        if claim.purpose == .claim, owner != claim.member {
            owner = claim.member
            ownerGeneration += 1
        }
        guard owner == claim.member else { return Claimed(ownerGeneration: 0, epoch: epoch, offsets: [:], cutOffs: []) }
        let owned = Partition.all.map { ($0, offsets[$0] ?? 0) }
        return Claimed(
            ownerGeneration: ownerGeneration, epoch: epoch, offsets: Dictionary(uniqueKeysWithValues: owned),
            cutOffs: [])
    }
}

extension PublishRequest {
    /// The messages, decoded from the frame.
    var contents: [PublishedMessage] {
        var reader = ByteReader(messages.bytes)
        var contents: [PublishedMessage] = []
        while !reader.isAtEnd, let message = try? PublishedMessage(&reader) { contents.append(message) }
        return contents
    }
}

extension PublishedMessage {
    /// The identity of a document.
    fileprivate var name: String { "\(topic) \(subject) \(key)" }
}
