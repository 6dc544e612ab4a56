public import EventBus

extension Command {
    /// A person dismissed this presented instance: swiped the sheet away, clicked beside the popover.
    public struct PresentationDismissed: CommandMessage {
        public var instance: String

        public init(instance: String) {
            self.instance = instance
        }
    }
}
