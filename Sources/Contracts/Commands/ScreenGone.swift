public import EventBus

extension Command {
    /// The view has finished animating this instance out.
    public struct ScreenGone: CommandMessage {
        public var instance: String

        public init(instance: String) {
            self.instance = instance
        }
    }
}
