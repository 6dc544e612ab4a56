internal import BusAccess
internal import BusFormat
internal import BusProtocol
internal import EventBus

/// The subscriptions that the feed receives.
struct Subscriptions {
    /// True if a client has subscribed to messages since the broker was started.
    private(set) var hasSubscriber = false
    /// The signals that devices have subscribed to.
    private var signals: Set<String> = []
    /// The maximum number of signals. Devices beyond it are told nothing, and compare heads.
    private static let signalCapacity = 10_000
    /// The number of messages that were not valid subscriptions.
    private(set) var garbageCount = 0

    /// - Parameter frames: A message of the XPUB socket: one frame with 1 and the topic for a subscription, or with 0
    ///   and the topic after its last subscriber has ended it.
    /// - Returns: The topic that was subscribed to; nil if the message is not a subscription.
    mutating func handle(_ frames: [[UInt8]]) -> [UInt8]? {
        guard let frame = frames.first, frames.count == 1, let mark = frame.first, mark <= 1 else {
            garbageCount += 1
            return nil
        }
        let topic = Array(frame.dropFirst())
        let isOfMessages = !topic.starts(with: Inbox.mark.utf8)
        guard topic.count <= (isOfMessages ? Topic.maximumLength : Inbox.maximumLength) else {
            garbageCount += 1
            return nil
        }
        if SessionSignal.isTopic(topic) { setSignal(String(decoding: topic, as: UTF8.self), isWanted: mark == 1) }
        guard mark == 1 else { return nil }
        if isOfMessages { hasSubscriber = true }
        return topic
    }

    private mutating func setSignal(_ topic: String, isWanted: Bool) {
        if !isWanted { signals.remove(topic) } else if signals.count < Self.signalCapacity { signals.insert(topic) }
    }

    /// Forgets the signals of a feed that is closed.
    mutating func forgetSignals() { signals = [] }

    /// The last recorded message for each signal that has subscribers.
    func signals(for messages: [FeedMessage]) -> [String: FeedMessage] {
        guard !signals.isEmpty else { return [:] }
        var last: [String: FeedMessage] = [:]
        for message in messages where message.offset > 0 {
            guard let session = message.origin?.session else { continue }
            let signal = SessionSignal.topic(of: session)
            if signals.contains(signal) { last[signal] = message }
            guard session == Session.default, let type = Topic(message.topic)?.type, PlatformAccess.areShared(type)
            else { continue }
            for signal in signals { last[signal] = message }
        }
        return last
    }

    mutating func drainGarbageCount() -> Int {
        defer { garbageCount = 0 }
        return garbageCount
    }
}
