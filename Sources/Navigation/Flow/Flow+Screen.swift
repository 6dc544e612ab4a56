extension Flow {
    /// A screen of a flow.
    public struct Screen: Hashable, Sendable {
        /// The name, unique in the flow.
        public let name: String
        /// What a view may show as its title.
        public let title: String?
        /// The types of the commands that it may send, sorted.
        public let sends: [String]
        /// Whether deep links wait while it stands, because the user has to pass it first.
        public let gate: Bool

        /// Declares a screen.
        public init(_ name: String, title: String? = nil, sends: [String] = [], gate: Bool = false) {
            self.name = name
            self.title = title
            self.sends = Set(sends).sorted()
            self.gate = gate
        }
    }
}
