internal import EventBus

/// A ``Page`` as the broker makes it: every message goes from where it lies into the frame that is sent.
package struct PackedPage: Sendable {
    package var through: UInt64
    package var isComplete = false
    package var damaged: [UInt64] = []
    /// How many messages there are.
    package private(set) var count = 0
    private let epoch: UInt64
    private var writer = ByteWriter()

    package init(epoch: UInt64, through: UInt64) {
        self.epoch = epoch
        self.through = through
    }

    package var isFull: Bool { count >= Limits.pageCount || writer.bytes.count >= Limits.pageSize }

    /// As ``FeedMessage/write(page:)``.
    package mutating func add(
        topic: [UInt8], offset: UInt64, previous: UInt64, header: UnsafeRawBufferPointer, data: UnsafeRawBufferPointer
    ) {
        writer.write(UInt16(clamping: topic.count))
        writer.write(bytes: topic)
        writer.write(offset)
        writer.write(previous)
        writer.write(blob: header)
        writer.write(blob: data)
        count += 1
    }

    package func frames(to head: RequestHead) -> [[UInt8]] {
        let extent = Page.extent(epoch: epoch, through: through, isComplete: isComplete, damaged: damaged)
        return Reply.successFrames(head: head.bytes, body: [extent, writer.bytes])
    }
}
