internal import BusAccess
internal import BusProtocol
internal import EventBus

/// Packs rows into one page, up to the limits of a page.
///
/// Every row is compared with its checksum, also if its message is not wanted: the damage may be in its topic or its
/// offset. Damaged messages are named to every reader, because their topics are unknown.
struct PageBuilder {
    /// The offsets at which there must be messages.
    enum Extent {
        /// The rows are those of a list of offsets.
        case listed
        /// There is a message at every offset from `pruned` + 1 to `head`, and at those of the retained documents
        /// before.
        case whole(pruned: UInt64, head: UInt64, documents: (ClosedRange<UInt64>) throws -> [UInt64])
    }

    private var page: PackedPage
    private let topics: TopicTable
    /// True, at the index of each topic, if the messages of the topic are wanted; nil if all messages are wanted.
    private let isWanted: [Bool]?
    /// The rights of a reader that may not receive all messages of a topic; nil for other readers.
    private let reader: Rights?
    private let extent: Extent
    /// The offset after which the page begins.
    private let start: UInt64
    /// The offsets of the undamaged rows up to `pruned`.
    private var retained: Set<UInt64> = []
    private var scanned = (rows: 0, bytes: 0)
    private let rows: Int

    /// The number of rows at which a page ends while other users wait.
    static let sharedCount = 500

    /// The number of bytes of rows after which a page ends.
    private static let scanSize = 16 << 20

    /// - Parameters:
    ///   - page: An empty page that begins after its `through`.
    ///   - rows: The number of rows at which the page ends.
    init(
        page: PackedPage, topics: TopicTable, isWanted: [Bool]?, reader: Rights? = nil, extent: Extent = .listed,
        rows: Int = Limits.scanCount
    ) {
        self.page = page
        self.topics = topics
        self.isWanted = isWanted
        self.reader = reader.flatMap { $0.areOfOneSession ? $0 : nil }
        self.extent = extent
        self.rows = rows
        start = page.through
    }

    /// Fills the page with the rows of a statement that are after an offset.
    /// - Parameter head: The last offset of the journal.
    mutating func page(
        of statement: RawStatement<MessageTable.ScanParameter>, after offset: UInt64, head: UInt64
    ) throws -> PackedPage {
        defer { statement.reset() }
        statement.bind(Int64(clamping: offset), to: .after)
        while !isFull {
            guard let row = try statement.step() else {
                addMissing(before: head + 1)
                if !isFull { page = finished(head: head) }
                break
            }
            add(row)
        }
        try addMissingDocuments()
        return page
    }

    /// Adds a row if its topic is wanted.
    mutating func add(_ row: RawRow) {
        let offset = UInt64(clamping: row.integer(.offset))
        let (header, data) = (row.bytes(.header), row.bytes(.data))
        scanned = (scanned.rows + 1, scanned.bytes + header.count + data.count)
        let previous = UInt64(clamping: row.integer(.previous))
        let origin = RowOrigin(session: row.bytes(.session), publisher: row.bytes(.publisher))
        guard let topic = topics.index(ofID: row.integer(.topic)),
            row.integer(.checksum)
                == Checksum.of(
                    topic: topics[topic].hash, offset: offset, previous: previous, header: header, data: data,
                    origin: origin)
        else { return addDamaged(row: offset) }
        addMissing(before: offset)
        guard !isFull, offset > page.through else { return }
        page.through = offset
        if case .whole(let pruned, _, _) = extent, offset <= pruned { retained.insert(offset) }
        guard isWanted?[topic] ?? true, reader?.mayReceive(topics[topic].type, origin) ?? true else { return }
        page.add(
            topic: topics[topic].bytes, offset: offset, previous: previous, header: header, data: data,
            origin: origin.verified)
    }

    /// Returns the page, marked as complete up to the end of the journal.
    func finished(head: UInt64) -> PackedPage {
        var page = page
        page.through = head
        page.isComplete = true
        return page
    }

    private mutating func addDamaged(row offset: UInt64) {
        switch extent {
        case .listed: addDamaged(offset)
        case .whole(let pruned, let head, _):
            // The offset itself may be damaged. If it is not the next one, the next row shows which one is missing.
            if page.through >= pruned, offset == page.through + 1, offset <= head { addDamaged(offset) }
        }
    }

    private mutating func addDamaged(_ offset: UInt64) {
        page.damaged.append(offset)
        page.through = offset
    }

    /// Adds the offsets after `pruned` and before `offset` at which there must be messages, but are none.
    private mutating func addMissing(before offset: UInt64) {
        guard case .whole(let pruned, _, _) = extent else { return }
        var missing = max(page.through, pruned) + 1
        while missing < offset, !isFull {
            addDamaged(missing)
            missing += 1
        }
    }

    /// Adds the offsets of the retained documents in this page whose messages are missing or damaged.
    private mutating func addMissingDocuments() throws {
        guard case .whole(let pruned, _, let documents) = extent, start < min(page.through, pruned) else { return }
        let expected = try documents(start + 1...min(page.through, pruned))
        page.damaged = expected.filter { !retained.contains($0) } + page.damaged
    }

    /// True if the page must end. A page that is not complete contains at least one offset.
    private var isFull: Bool {
        page.isFull || page.damaged.count >= Limits.pageCount
            || page.through > start && (scanned.rows >= rows || scanned.bytes >= Self.scanSize)
    }
}
