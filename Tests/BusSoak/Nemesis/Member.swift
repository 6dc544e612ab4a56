/// A process of a round, whichever incarnation of it runs.
package enum Member: Hashable, Sendable {
    case broker
    case publisher(Int)
    case subscriber(Int)
    /// Has a group to itself.
    case consumer
    /// Shares a group with the other workers.
    case worker(Int)

    /// Two of those that there may be several of, so that one is hit while the other goes on.
    package static let all: [Member] = [
        .broker, .publisher(1), .publisher(2), .subscriber(1), .subscriber(2), .consumer, .worker(1), .worker(2),
    ]

    package var name: String {
        switch self {
        case .broker: "broker"
        case .publisher(let number): "publisher\(number)"
        case .subscriber(let number): "subscriber\(number)"
        case .consumer: "consumer"
        case .worker(let number): "worker\(number)"
        }
    }

    /// The durable name under which it consumes: each group handles everything.
    package var group: String? {
        switch self {
        case .consumer: "exclusive"
        case .worker: "shared"
        case .broker, .publisher, .subscriber: nil
        }
    }

    var isPublisher: Bool {
        if case .publisher = self { true } else { false }
    }

    var isSubscriber: Bool {
        if case .subscriber = self { true } else { false }
    }
}
