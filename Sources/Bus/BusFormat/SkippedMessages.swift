internal import EventBus
package import Logging
internal import Synchronization

/// Logs each message that was not delivered because it cannot be read, with the number of such messages so far.
package final class SkippedMessages: Sendable {
    private let logger: Logger
    private let count = Atomic<Int>(0)

    package init(logger: Logger) {
        self.logger = logger
    }

    package func record(_ reason: String) {
        let count = count.wrappingAdd(1, ordering: .relaxed).newValue
        logger.warning(
            "a message was skipped", metadata: ["reason": "\(reason.shortened(to: 500))", "skipped": "\(count)"])
    }
}
