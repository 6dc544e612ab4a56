internal import BusProtocol
internal import Foundation
internal import GRDB

/// Collects the rows of one page, within the bounds of a page.
struct PageBuilder {
    let request: PageRequest
    let epoch: UInt64
    private(set) var isFull = false
    /// Offsets of rows whose checksum is wrong.
    private(set) var damaged: [UInt64] = []
    private var messages: [FeedMessage] = []
    private var through: UInt64
    private var scanned = 0
    private var size = 0

    init(request: PageRequest, epoch: UInt64) {
        self.request = request
        self.epoch = epoch
        through = request.after
    }

    mutating func add(_ row: Row) {
        scanned += 1
        through = UInt64(row[0] as Int64)
        let topic: String = row[1]
        if request.matches(topic) {
            let message = FeedMessage(
                topic: topic, epoch: epoch, offset: through, previous: UInt64(row[2] as Int64),
                header: Array(row[3] as Data), data: Array(row[4] as Data))
            if message.checksum == row[5] as Int64 {
                messages.append(message)
                size += message.header.count + message.data.count
            } else {
                damaged.append(through)
            }
        }
        isFull = messages.count >= Limits.pageCount || size >= Limits.pageSize || scanned >= Limits.scanCount
    }

    /// - Parameter head: the journal's end, which a page that did not fill up has reached.
    func page(head: UInt64) -> Page {
        Page(epoch: epoch, through: isFull ? through : head, isComplete: !isFull, messages: messages)
    }
}
