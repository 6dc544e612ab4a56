/// Where a broker listens, and where it keeps its journal.
package struct BrokerConfiguration: Sendable {
    /// `ipc:///DIRECTORY` or `tcp://HOST:PORT`.
    package var address: String
    /// The journal's file.
    package var journal: String
    package var durability: Durability

    package init(address: String, journal: String, durability: Durability = .process) {
        self.address = address
        self.journal = journal
        self.durability = durability
    }
}
