public import EventBus

extension Command {
    /// The view has gone back from this instance.
    public struct BackCompleted: CommandMessage {
        public var instance: String

        public init(instance: String) {
            self.instance = instance
        }
    }
}
