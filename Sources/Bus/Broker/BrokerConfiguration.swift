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

/// What an acknowledged message survives.
package enum Durability: String, Sendable, CaseIterable {
    /// A kill -9 of anything (SQLite's write-ahead log, `synchronous=NORMAL`).
    case process
    /// Also a loss of power: every commit waits for the disk (`synchronous=FULL`).
    case power
}

/// What a journal keeps. Retained documents stay for ever.
package struct RetentionPolicy: Hashable, Sendable {
    /// Older messages go once every durable consumer has handled them; nil to keep them.
    package var age: Duration?
    /// Bytes of the journal's file that are used beside retained documents and dead letters. Beyond it the oldest messages go, handled or not; nil for no limit.
    package var size: Int?

    package init(age: Duration?, size: Int?) {
        self.age = age
        self.size = size
    }

    /// Seven days, 1 GiB.
    package static let standard = RetentionPolicy(age: .seconds(7 * 24 * 60 * 60), size: 1 << 30)
    package static let unlimited = RetentionPolicy(age: nil, size: nil)
}

/// How long messages are kept, as a person writes it: `90s`, `30m`, `12h`, `7d`; `0` or `none` for ever.
package struct RetainedAge: LosslessStringConvertible, Sendable {
    package let duration: Duration?
    package let description: String

    private static let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]

    /// Nil unless it is such a text.
    package init?(_ text: String) {
        description = text
        if text == "0" || text == "none" {
            duration = nil
        } else if let unit = text.last.flatMap({ Self.units[$0] }), let count = Int64(text.dropLast()), count > 0,
            case let (seconds, hasOverflown) = count.multipliedReportingOverflow(by: unit), !hasOverflown,
            seconds < Int64.max / 1000
        {
            duration = .seconds(seconds)
        } else {
            return nil
        }
    }
}

/// How much of a journal is kept, as a person writes it: `512MiB`, `1GiB`, or a number of bytes; `0` or `none` for all.
package struct RetainedSize: LosslessStringConvertible, Sendable {
    package let bytes: Int?
    package let description: String

    private static let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40), ("", 1)]

    /// Nil unless it is such a text.
    package init?(_ text: String) {
        description = text
        if text == "0" || text == "none" {
            bytes = nil
            return
        }
        guard let (suffix, factor) = Self.units.first(where: { text.hasSuffix($0.0) }),
            let count = Int(text.dropLast(suffix.count)), count > 0,
            case let (size, hasOverflown) = count.multipliedReportingOverflow(by: factor), !hasOverflown
        else { return nil }
        bytes = size
    }
}
