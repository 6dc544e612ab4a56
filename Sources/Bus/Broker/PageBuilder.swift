internal import BusProtocol
internal import EventBus

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
