internal import BusProtocol

/// By which of its predecessors a subscriber knows that nothing is missing before a message.
///
/// One type: by the message before on the same topic. Several types: by the message before in the same partition, whatever
/// its type, for only that keeps the messages of one subject in order; where it is of a type that was not subscribed to,
/// the journal has to be asked.
enum Chain {
    case topic
    case partition

    init(prefixes: [String]) {
        // `event.` alone is a kind, and so many types.
        let isOneType = prefixes.count == 1 && prefixes.allSatisfy { $0.split(separator: ".").count > 1 }
        self = isOneType ? .topic : .partition
    }

    func key(_ topic: String) -> Substring {
        switch self {
        case .topic: topic[...]
        case .partition: topic.suffix(2)
        }
    }

    func previous(_ message: FeedMessage) -> UInt64 {
        switch self {
        case .topic: message.previous
        case .partition: message.previousInPartition
        }
    }
}
