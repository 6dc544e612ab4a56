package import EventBus
internal import Testing

/// A promise of ``EventBus``, as a test that the test target of a transport can run:
///
///     @Test(arguments: ConformanceCase.all(with: [.leases, .queries]))
///     func conforms(_ conformanceCase: ConformanceCase) async throws {
///         try await withBroker { broker in
///             try await conformanceCase.run { source in try await broker.connect(source) }
///         }
///     }
///
/// A transport that declares ``BusFeatures/survivesRestart`` also passes a function that restarts it, see
/// ``RestartableService``.
package struct ConformanceCase: Sendable {
    /// Creates a bus for a process with this source. All buses that one case creates share one journal, which is empty
    /// at first.
    package typealias MakeBus = @Sendable (_ source: String) async throws -> EventBus
    /// Stops the service that the buses of one case share, and starts it again.
    package typealias Restart = @Sendable (_ journal: JournalAtRestart) async throws -> Void

    /// What happens to the journal while the service does not run.
    package enum JournalAtRestart: Sendable {
        case stays
        /// It is copied.
        case isCopied
        /// It is replaced by the copy: what was published since is lost.
        case isPutBack
    }

    /// The promise as a sentence. The page docs/guarantees.md shows it.
    package let name: String
    /// In what the promise is weaker on NATS. Nil if it is not.
    package let onNATS: String?
    /// The features that a transport needs to make the promise.
    package let features: BusFeatures
    private let body: @Sendable (ConformanceFixture) async throws -> Void

    init(
        _ name: String, needs features: BusFeatures = [], onNATS: String? = nil,
        _ body: @escaping @Sendable (ConformanceFixture) async throws -> Void
    ) {
        self.name = name
        self.onNATS = onNATS
        self.features = features
        self.body = body
    }

    /// Runs the case. A broken promise is recorded as an issue of the current test.
    /// - Parameter restart: Required by cases that need ``BusFeatures/survivesRestart``.
    package func run(_ make: @escaping MakeBus, restart: Restart? = nil) async throws {
        try await body(ConformanceFixture(make: make, restartService: restart))
    }

    package static let all = Group.all.flatMap(\.cases)

    /// The promises of a transport with these features.
    package static func all(with features: BusFeatures) -> [ConformanceCase] {
        all.filter { $0.features.isSubset(of: features) }
    }
}

extension ConformanceCase {
    /// Promises about one subject, a section of the page docs/guarantees.md.
    package struct Group: Sendable {
        package let title: String
        /// The kinds of messages that they are about.
        package let kinds: String
        package let cases: [ConformanceCase]

        private init(_ title: String, _ kinds: String, _ cases: [ConformanceCase]) {
            (self.title, self.kinds, self.cases) = (title, kinds, cases)
        }

        package static let all = [
            Group("Publishing", recorded, publishing),
            Group("Where a subscription starts and ends", recorded, starting),
            Group("From past to live messages", recorded, pastAndLive),
            Group("Filters", "messages of all kinds", filtering),
            Group("Reading the journal", recorded, reading),
            Group("Documents", "documents", documents),
            Group("Durable consumers", handled, consuming),
            Group("Progress of durable consumers", handled, progress),
            Group("Removing durable consumers", handled, forgetting),
            Group("Shared consumers", handled, sharing),
            Group("Dead letters", handled, givingUp),
            Group("Queries", "queries", asking),
            Group("Transient messages", "transient messages, which are not recorded", transience),
            Group("A restart", recorded, restarting),
            Group("A journal that has lost its end", recorded, losingEnd),
        ]

        private static let recorded = "all recorded messages: commands, events, errors and documents"
        private static let handled = "commands, events and errors"
    }
}

extension ConformanceCase: CustomTestStringConvertible {
    package var testDescription: String { name }
}

/// The optional features of a transport. A case that needs a feature the transport does not declare is not run.
package struct BusFeatures: OptionSet, Hashable, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// The leased documents of a publisher are withdrawn when it ends.
    package static let leases = BusFeatures(rawValue: 1 << 0)
    /// Instances of a durable consumer can share its partitions.
    package static let sharedConsumers = BusFeatures(rawValue: 1 << 1)
    /// Messages that a consumer gives up are kept as dead letters.
    package static let deadLetters = BusFeatures(rawValue: 1 << 2)
    /// Queries reach a process that answers them.
    package static let queries = BusFeatures(rawValue: 1 << 3)
    /// Messages can be transient: only current subscribers receive them.
    package static let transient = BusFeatures(rawValue: 1 << 4)
    /// Everything that was acknowledged is available after the service of the bus was stopped and started.
    package static let survivesRestart = BusFeatures(rawValue: 1 << 5)

    package static let all: BusFeatures = [
        .leases, .sharedConsumers, .deadLetters, .queries, .transient, .survivesRestart,
    ]
}
