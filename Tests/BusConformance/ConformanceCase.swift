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
