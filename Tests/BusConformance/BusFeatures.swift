/// What a transport offers beyond what every bus does. A case that needs more than is declared does not run.
package struct BusFeatures: OptionSet, Hashable, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Documents of a publisher that ends are withdrawn.
    package static let leases = BusFeatures(rawValue: 1 << 0)
    /// Instances of a durable consumer share its partitions.
    package static let sharedConsumers = BusFeatures(rawValue: 1 << 1)
    /// Messages that are given up are kept.
    package static let deadLetters = BusFeatures(rawValue: 1 << 2)
    /// Questions find who answers them.
    package static let queries = BusFeatures(rawValue: 1 << 3)
    /// Messages for whoever listens now.
    package static let transient = BusFeatures(rawValue: 1 << 4)
    /// All that is acknowledged is there when the service of the bus has been stopped and started.
    package static let survivesRestart = BusFeatures(rawValue: 1 << 5)

    package static let all: BusFeatures = [
        .leases, .sharedConsumers, .deadLetters, .queries, .transient, .survivesRestart,
    ]
}
