internal import EventBus
internal import Foundation
internal import Logging
internal import NATS
internal import NATSLayout
internal import Support

/// The limits of a journal. Retention never removes retained documents and dead letters.
package struct JournalLimits: Hashable, Sendable {
    /// The maximum age of messages. Older messages are removed after every durable consumer has handled them. Nil for
    /// no limit.
    package var age: Duration?
    /// The size in bytes beyond which the oldest messages are removed, even if they are not handled. Nil for no limit.
    package var size: Int?

    package init(age: Duration?, size: Int?) {
        self.age = age
        self.size = size
    }

    /// Seven days and 1 GiB.
    package static let standard = JournalLimits(age: .seconds(7 * 24 * 60 * 60), size: 1 << 30)

    /// The size at which the server itself removes messages, if no steward does.
    var lastStop: Int? { size.map { $0 > Int.max / 2 ? Int.max : $0 * 2 } }
}

/// Removes old messages and superseded records from the journal.
actor Retention {
    init(
        _ jetStream: JetStream, _ names: StreamNames, _ limits: JournalLimits, _ projection: Projection,
        _ notices: StewardNotices, _ logger: Logger
    ) {}

    func run() async throws {
        while true { try await Task.sleep(for: .seconds(3600)) }
    }
}
