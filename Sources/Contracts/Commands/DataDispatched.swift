public import EventBus
public import Navigation

extension Command {
    /// The data-driven style: here is something to show; the flow decides how.
    public struct DataDispatched: CommandMessage {
        public var name: String
        public var data: JSONValue

        public init(name: String, data: JSONValue) {
            self.name = name
            self.data = data
        }
    }
}
