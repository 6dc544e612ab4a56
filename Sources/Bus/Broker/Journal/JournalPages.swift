internal import BusProtocol
internal import EventBus
internal import Foundation
internal import GRDB

extension Journal {
    /// The messages behind an offset that match.
    func messages(_ request: PageRequest) throws -> PackedPage {
        try page(request, statements.messages)
    }

    /// The topics that match and have grown behind an offset.
    func heads(_ request: PageRequest) throws -> Heads {
        try check(request)
        let filters = Set(request.prefixes)
        let grown = topics.entries.filter { $0.head > request.after && $0.matches(filters) }
        let offsets = grown.map { ($0.name, $0.head) }
        return Heads(epoch: epoch, through: head, offsets: Dictionary(offsets) { max($0, $1) })
    }

    /// Fills a page from rows of (offset, topic, previous, header, data, checksum).
    func page(_ request: PageRequest, _ statement: RawStatement) throws -> PackedPage {
        try check(request)
        let filters = Set(request.prefixes)
        let isWanted = topics.entries.map { $0.head > request.after && $0.matches(filters) }
        var builder = PageBuilder(
            page: PackedPage(epoch: epoch, through: request.after), topics: topics, isWanted: isWanted)
        // Most repairs and most starts find nothing new: the heads tell without a scan.
        guard isWanted.contains(true) else { return builder.finished(head: head) }
        return try read { _ in
            defer { statement.reset() }
            statement.bind(Int64(clamping: request.after), at: 1)
            while !builder.isFull {
                guard try statement.step() else { return builder.finished(head: head) }
                builder.add(statement)
            }
            return builder.page
        }
    }

    /// When the last message was journalled, in milliseconds since 1970; 0 when there is none.
    func lastTime() throws -> Int64 {
        try read { try Int64.fetchOne($0, sql: "SELECT time FROM messages ORDER BY offset DESC LIMIT 1") ?? 0 }
    }

    /// The offset of the last message before a time, in milliseconds since 1970. Times never shrink from one offset to the
    /// next: see ``BrokerClock``.
    func locate(_ time: UInt64) throws -> UInt64 {
        try read { database in
            let statement = try database.cachedStatement(
                sql: "SELECT offset, time FROM messages WHERE offset >= ? ORDER BY offset LIMIT 1")
            var (before, behind) = (UInt64(0), head + 1)
            while behind - before > 1 {
                let middle = before + (behind - before) / 2
                let row = try Row.fetchOne(statement, arguments: [Int64(middle)])
                if let row, UInt64(clamping: row[1] as Int64) < time {
                    before = UInt64(clamping: row[0] as Int64)
                } else {
                    behind = middle
                }
            }
            return before
        }
    }

    private func check(_ request: PageRequest) throws {
        try check(epoch: request.epoch)
        // A client that has read that far has read a longer journal: this one has lost its end since.
        guard request.after <= head else {
            throw ProtocolError(.epoch, "offset \(request.after) is beyond the end of the journal, \(head)")
        }
    }

    func check(epoch asked: UInt64) throws {
        guard asked == 0 || asked == epoch else {
            throw ProtocolError(
                .epoch, "this is journal \(String(epoch, radix: 16)), not \(String(asked, radix: 16))")
        }
    }
}

/// Packs rows into one page, within the bounds of a page.
struct PageBuilder {
    private(set) var page: PackedPage
    let topics: TopicTable
    /// By index of the topic; nil if all are wanted.
    let isWanted: [Bool]?
    private var scanned = 0

    init(page: PackedPage, topics: TopicTable, isWanted: [Bool]?) {
        self.page = page
        self.topics = topics
        self.isWanted = isWanted
    }

    var isFull: Bool { page.isFull || scanned >= Limits.scanCount || page.damaged.count >= Limits.pageCount }

    /// - Parameter row: offset, topic, previous, header, data, checksum.
    mutating func add(_ row: RawStatement) {
        scanned += 1
        page.through = UInt64(clamping: row.integer(0))
        guard let index = topics.index(ofID: row.integer(1)) else {
            // Nobody can tell who wanted it.
            return page.damaged.append(page.through)
        }
        guard isWanted?[index] ?? true else { return }
        let previous = UInt64(clamping: row.integer(2))
        let (header, data) = (row.bytes(3), row.bytes(4))
        let checksum = Checksum.of(
            topic: topics[index].hash, offset: page.through, previous: previous, header: header, data: data)
        guard checksum == row.integer(5) else { return page.damaged.append(page.through) }
        page.add(topic: topics[index].bytes, offset: page.through, previous: previous, header: header, data: data)
    }

    /// The page that has reached the journal's end.
    func finished(head: UInt64) -> PackedPage {
        var page = page
        page.through = head
        page.isComplete = true
        return page
    }
}
