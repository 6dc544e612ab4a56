public import EventBus

extension Command {
    /// The swipe back was let go of; the instance stays.
    public struct BackCancelled: CommandMessage {
        public var instance: String

        public init(instance: String) {
            self.instance = instance
        }
    }
}
