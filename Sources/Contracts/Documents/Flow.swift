public import EventBus

extension Document {
    /// The flow that a platform's coordinator follows, as text: a view reads from it what its screens are called and which
    /// commands they may send.
    ///
    /// The coordinator publishes it when it starts, leased: it goes with the process. A platform has one flow in all sessions,
    /// so the subject is always `default`.
    public struct Flow: DocumentMessage, Hashable {
        public var platform: String
        public var name: String
        /// The version that the authors of the flow gave it.
        public var version: Int
        /// The hash that every snapshot of this flow carries.
        public var hash: String
        /// YAML: the file that the coordinator has read, or the export of a flow that is built in Swift.
        public var source: String

        public init(platform: String, name: String, version: Int, hash: String, source: String) {
            self.platform = platform
            self.name = name
            self.version = version
            self.hash = hash
            self.source = source
        }

        public var key: String? { platform }
    }
}
