public import EventBus

extension Command {
    /// A person selected a tab.
    public struct TabSelected: CommandMessage {
        public var instance: String
        public var tab: String

        public init(instance: String, tab: String) {
            self.instance = instance
            self.tab = tab
        }
    }
}
