public import EventBus

extension Command {
    /// A person began to swipe back from this instance; nothing has moved yet.
    public struct BackStarted: CommandMessage {
        public var instance: String

        public init(instance: String) {
            self.instance = instance
        }
    }
}
