public import EventBus
public import Navigation

extension Command {
    /// The imperative style: do this action of the flow language.
    public struct NavigationRequested: CommandMessage {
        public var action: JSONValue

        public init(action: JSONValue) {
            self.action = action
        }
    }
}
