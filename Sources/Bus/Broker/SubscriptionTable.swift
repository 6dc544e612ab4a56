internal import BusProtocol

/// What the broker's feed is told: who subscribes to what. Only two things are of interest: which inboxes want an answer, and
/// whether anybody listens at all.
struct SubscriptionTable {
    /// Filters that are remembered. Beyond them it is taken for granted that somebody listens.
    static let capacity = 65_536

    private var filters: Set<[UInt8]> = []
    private var hasOverflowed = false
    /// What came that no client of the protocol sends.
    private(set) var garbageCount = 0

    var isEmpty: Bool { filters.isEmpty && !hasOverflowed }

    /// - Parameter frames: as XPUB hands them over: one frame a subscription, 1 and the topic; or 0 and the topic when nobody
    ///   has it any more.
    /// - Returns: the inbox that was subscribed to, if it is one.
    mutating func take(_ frames: [[UInt8]]) -> [UInt8]? {
        guard let frame = frames.first, frames.count == 1, let mark = frame.first, mark <= 1 else {
            garbageCount += 1
            return nil
        }
        let topic = Array(frame.dropFirst())
        let isInbox = topic.starts(with: Inbox.mark.utf8)
        guard topic.count <= (isInbox ? Inbox.maximumLength : Topic.maximumLength) else {
            garbageCount += 1
            return nil
        }
        if isInbox { return mark == 1 ? topic : nil }
        if mark == 0 {
            filters.remove(topic)
        } else if filters.count < Self.capacity {
            filters.insert(topic)
        } else {
            hasOverflowed = true
        }
        return nil
    }

    mutating func takeGarbageCount() -> Int {
        defer { garbageCount = 0 }
        return garbageCount
    }
}
