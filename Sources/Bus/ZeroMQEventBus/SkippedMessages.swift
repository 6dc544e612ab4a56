internal import Logging
internal import Synchronization

/// What was not given to whoever asked for it, because its header cannot be read: each is logged, with how many it were.
final class SkippedMessages: Sendable {
    private let logger: Logger
    private let count = Atomic<Int>(0)

    init(logger: Logger) {
        self.logger = logger
    }

    func note(_ reason: String) {
        let count = count.wrappingAdd(1, ordering: .relaxed).newValue
        logger.warning("a message was skipped", metadata: ["reason": "\(reason)", "skipped": "\(count)"])
    }
}
