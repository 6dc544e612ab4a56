public import EventBus

extension Command {
    /// A person pressed a button of an alert.
    public struct AlertAnswered: CommandMessage {
        public var instance: String
        public var button: String

        public init(instance: String, button: String) {
            self.instance = instance
            self.button = button
        }
    }
}
