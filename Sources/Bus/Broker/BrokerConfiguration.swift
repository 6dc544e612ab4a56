package import EventBus

/// Where a broker listens, and where it keeps its journal.
package struct BrokerConfiguration: Sendable {
    /// `ipc:///DIRECTORY` or `tcp://HOST:PORT`.
    package var address: String
    /// The journal's file.
    package var journal: String
    package var durability: Durability
    package var retention: RetentionPolicy
    /// Makes a message of what the broker has to say; nil for nothing. It is published as the broker's own.
    package var describe: (@Sendable (BrokerNotice) -> Envelope?)?

    package init(
        address: String, journal: String, durability: Durability = .process, retention: RetentionPolicy = .standard,
        describe: (@Sendable (BrokerNotice) -> Envelope?)? = nil
    ) {
        self.address = address
        self.journal = journal
        self.durability = durability
        self.retention = retention
        self.describe = describe
    }
}
