internal import DequeModule
internal import EventBus

/// The rows of a view that have not been sent yet, in order. If there are too many, the oldest are skipped and counted.
/// Of several skipped versions of one document, the last is kept.
struct PendingRows: Sendable {
    /// The maximum number of rows.
    static let limit = 1000
    /// The maximum number of documents that are kept of skipped rows.
    static let documentLimit = 1000

    /// The stretch of skipped rows. The documents in it that are sent are not counted.
    struct Skipped: Hashable, Sendable {
        var count: Int
        /// The position before the stretch.
        let after: Position
        /// The position after the last skipped row.
        var before: Position
    }

    private var rows: Deque<MessageRow> = []
    private var documents: [DocumentName: MessageRow] = [:]
    private var skipped: Skipped?
    /// The number of documents that were skipped because there were too many.
    private var lostDocuments = 0
    /// The number of transient messages that were skipped.
    private var lostTransients = 0

    var isEmpty: Bool { rows.isEmpty && documents.isEmpty && skipped == nil }

    mutating func append(_ row: MessageRow) {
        rows.append(row)
        while rows.count > Self.limit, let first = rows.popFirst() { skip(first) }
    }

    /// Puts rows before the others, for example the first page of a view. They are not skipped.
    mutating func prepend(_ first: [MessageRow]) { rows = Deque(first) + rows }

    /// Removes the rows up to a position.
    mutating func drop(through end: Position) {
        rows.removeAll { $0.isRecorded(through: end) }
        documents = documents.filter { !$0.value.isRecorded(through: end) }
        if let stretch = skipped, stretch.before.epoch == end.epoch, stretch.before.offset <= end.offset + 1 {
            skipped = nil
        }
    }

    /// Removes and returns rows whose estimated size is at most `size`, but at least one. The documents of skipped rows
    /// come first.
    mutating func dequeue(size: Int) -> (rows: [MessageRow], skipped: Skipped?) {
        defer { skipped = nil }
        var dequeued: [MessageRow] = []
        var left = size
        func fits(_ row: MessageRow) -> Bool {
            guard left >= row.estimatedSize || dequeued.isEmpty else { return false }
            left -= row.estimatedSize
            dequeued.append(row)
            return true
        }
        for (name, row) in documents.sorted(by: { $0.value.offset < $1.value.offset }) {
            guard fits(row) else { return (dequeued, skipped) }
            documents[name] = nil
        }
        while let row = rows.first, fits(row) { rows.removeFirst() }
        return (dequeued, skipped)
    }

    /// Removes and returns notices of the messages that were skipped and that no stretch contains.
    mutating func drainLosses() -> [String] {
        defer { (lostDocuments, lostTransients) = (0, 0) }
        return [
            lostDocuments > 0 ? "\(lostDocuments) documents were skipped; there are too many" : nil,
            lostTransients > 0 ? "\(lostTransients) transient messages were skipped; there are too many" : nil,
        ].compactMap(\.self)
    }

    private mutating func skip(_ row: MessageRow) {
        guard let position = row.position else {
            lostTransients += 1
            return
        }
        let before = Position(epoch: position.epoch, offset: position.offset + 1)
        if skipped == nil || skipped?.after.epoch != position.epoch {
            let after = Position(epoch: position.epoch, offset: position.offset - min(position.offset, 1))
            skipped = Skipped(count: 0, after: after, before: before)
        }
        skipped?.before = before
        guard let name = row.document else {
            skipped?.count += 1
            return
        }
        if documents.updateValue(row, forKey: name) != nil { skipped?.count += 1 }
        guard documents.count > Self.documentLimit,
            let oldest = documents.min(by: { $0.value.offset < $1.value.offset })
        else { return }
        documents[oldest.key] = nil
        skipped?.count += 1
        lostDocuments += 1
    }
}
