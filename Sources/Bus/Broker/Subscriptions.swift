internal import BusProtocol

/// What the broker's feed is told: who subscribes to what. Only two things are of interest: which inboxes want an answer, and
/// whether anybody has ever subscribed to more. Who no longer does is libzmq's to know: it passes the end of a subscription
/// on also when it comes from somebody who never had it.
struct Subscriptions {
    private(set) var isHeard = false
    /// What came that no client of the protocol sends.
    private(set) var garbageCount = 0

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
        guard mark == 1 else { return nil }
        if !isInbox { isHeard = true }
        return isInbox ? topic : nil
    }

    mutating func takeGarbageCount() -> Int {
        defer { garbageCount = 0 }
        return garbageCount
    }
}
