internal import Contracts
internal import EventBus

extension Document {
    /// The notifier's own memory. The banner tells views how many errors wait; this keeps which, across a restart.
    struct ErrorQueueState: DocumentMessage {
        static let name = "ErrorQueue"

        var queue: ErrorQueue
    }
}
