extension Flow {
    /// A screen of a flow.
    public struct Screen: Hashable, Sendable {
        /// The name, unique in the flow.
        public let name: String
        /// What a view may show as its title.
        public let title: String?
        /// The types of the commands that it may send, sorted.
        public let sends: [String]

        /// Declares a screen.
        public init(_ name: String, title: String? = nil, sends: [String] = []) {
            self.name = name
            self.title = title
            self.sends = Set(sends).sorted()
        }
    }
}
