public import EventBus

extension Document {
    /// What a process receives and sends, and what that carries, as its own declarations in code say.
    ///
    /// It is what a service prints when it is started with `--contract`, and what it publishes once when it announces
    /// itself, as a document of its instance.
    public struct ServiceContract: DocumentMessage, Hashable {
        public var name: String
        public var version: String
        /// Which process; none where no process runs.
        public var instance: String?
        public var receives: [MessageContract]
        public var sends: [MessageContract]

        public init(
            name: String, version: String, instance: String? = nil, receives: [MessageContract],
            sends: [MessageContract]
        ) {
            self.name = name
            self.version = version
            self.instance = instance
            self.receives = receives
            self.sends = sends
        }

        public var key: String? { instance }
    }
}
