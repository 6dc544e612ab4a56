package import EventBus
internal import Testing

/// One promise of ``EventBus`` that every transport keeps, as a test that any transport's test target can run:
///
///     @Test(arguments: ConformanceCase.all(with: [.leases, .queries]))
///     func conforms(_ conformanceCase: ConformanceCase) async throws {
///         try await withBroker { broker in
///             try await conformanceCase.run { source in try await broker.connect(source) }
///         }
///     }
///
/// One that declares ``BusFeatures/survivesRestart`` also says how to restart: see ``RestartableService``.
package struct ConformanceCase: Sendable {
    /// Makes a bus for a process with this source. All buses that one case makes share one empty journal.
    package typealias MakeBus = @Sendable (_ source: String) async throws -> any EventBus
    /// Stops the service that the buses of one case share and starts it again, with the journal that it had.
    package typealias Restart = @Sendable () async throws -> Void

    /// The promise, in prose.
    package let name: String
    /// Only a transport that has these makes the promise.
    package let features: BusFeatures
    private let body: @Sendable (ConformanceFixture) async throws -> Void

    init(
        _ name: String, needs features: BusFeatures = [],
        _ body: @escaping @Sendable (ConformanceFixture) async throws -> Void
    ) {
        self.name = name
        self.features = features
        self.body = body
    }

    /// Runs the case; what is not as promised is recorded as an issue of the current test.
    /// - Parameter restart: needed by cases that need ``BusFeatures/survivesRestart``.
    package func run(_ make: @escaping MakeBus, restart: Restart? = nil) async throws {
        try await body(ConformanceFixture(make: make, restartService: restart))
    }

    package static let all =
        publishing + starting + pastAndLive + filtering + reading + documents + consuming + progress + forgetting
        + sharing + givingUp + asking
        + transience
        + restarting

    /// The promises of a transport with these features.
    package static func all(with features: BusFeatures) -> [ConformanceCase] {
        all.filter { $0.features.isSubset(of: features) }
    }
}

extension ConformanceCase: CustomTestStringConvertible {
    package var testDescription: String { name }
}

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
