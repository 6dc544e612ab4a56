/// A process of a round, whichever incarnation of it runs.
package enum Member: Hashable, Sendable {
    case broker
    case publisher(Int)
    case subscriber(Int)
    case consumer(Int)

    /// Two of each, so that one is hit while the other goes on.
    package static let all: [Member] = [
        .broker, .publisher(1), .publisher(2), .subscriber(1), .subscriber(2), .consumer(1), .consumer(2),
    ]

    package var name: String {
        switch self {
        case .broker: "broker"
        case .publisher(let number): "publisher\(number)"
        case .subscriber(let number): "subscriber\(number)"
        case .consumer(let number): "consumer\(number)"
        }
    }

    /// The durable name of a consumer: each handles everything.
    package var group: String? {
        if case .consumer(let number) = self { "group\(number)" } else { nil }
    }

    var isPublisher: Bool {
        if case .publisher = self { true } else { false }
    }
}
