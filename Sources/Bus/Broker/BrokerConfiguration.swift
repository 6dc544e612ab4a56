package import BusKeys
package import EventBus
internal import Support

/// The configuration of a broker.
package struct BrokerConfiguration: Sendable {
    /// `ipc:///DIRECTORY` or `tcp://HOST:PORT`.
    package var address: String
    /// The path of the journal's file.
    package var journal: String
    package var durability: Durability
    package var retention: RetentionLimits
    /// The keys of the bus; nil for a bus without keys.
    package var keys: KeyFolder?
    /// True if a network address may be used without keys.
    package var isInsecure: Bool
    /// The maximum number of connections. Nil for as many as the process may have descriptors for.
    package var connectionLimit: Int?
    package var userLimits = UserLimits()
    /// Turns a notice of the broker into a message, which the broker publishes. Nil, or a nil result, publishes
    /// nothing.
    package var describe: (@Sendable (BusNotice) -> Envelope?)?

    package init(
        address: String, journal: String, durability: Durability = .process, retention: RetentionLimits = .standard,
        keys: KeyFolder? = nil, isInsecure: Bool = false,
        describe: (@Sendable (BusNotice) -> Envelope?)? = nil
    ) {
        self.address = address
        self.journal = journal
        self.durability = durability
        self.retention = retention
        self.keys = keys
        self.isInsecure = isInsecure
        self.describe = describe
    }
}

/// The failures that an acknowledged message survives.
package enum Durability: String, Sendable, CaseIterable {
    /// The kill of any process (SQLite's write-ahead log, `synchronous=NORMAL`).
    case process
    /// The kill of any process, and a loss of power: every commit waits for the disk (`synchronous=FULL`).
    case power
}

/// The size limit of retention as an option: a number of bytes, or a number with the unit `KiB`, `MiB`, `GiB` or `TiB`,
/// such as `512MiB`; `0` or `none` for no limit.
package struct RetainedSize: LosslessStringConvertible, Sendable {
    /// Nil for no limit.
    package let bytes: Int?
    package let description: String

    private static let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40), ("", 1)]

    /// Nil if the string has none of these forms, or if the number is too large.
    package init?(_ text: String) {
        description = text
        if text == "0" || text == "none" {
            bytes = nil
            return
        }
        guard let (suffix, factor) = Self.units.first(where: { text.ends(with: $0.0) }),
            let count = text.removing(suffix: suffix).flatMap({ Int($0) }), count > 0,
            case let (size, hasOverflown) = count.multipliedReportingOverflow(by: factor), !hasOverflown
        else { return nil }
        bytes = size
    }
}
