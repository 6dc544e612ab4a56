internal import BusFormat
internal import NATSLayout

/// The end of a journal, as far as clients and the steward have seen it, as a value without side effects.
///
/// What one client reports never replaces the report of another one: a client that is right about a loss must not be
/// hidden by one that is wrong, or that does not know of it.
struct KnownEnd: Hashable, Sendable {
    /// The number of heartbeats after which a client stays in an epoch.
    private static let strangerHeartbeats = 3
    private static let strangerCount = 64
    /// The maximum number of clients whose missing messages are kept. Each of them is asked for at each check until one is
    /// lost.
    private static let missedCount = 16

    /// The highest sequence that a client has seen.
    private(set) var sequence: UInt64 = 0
    /// The last message that a client or the steward has received.
    private(set) var last: SeenMessage?
    /// The last message of each client that has not found it again. A client that does not know of the loss, or the
    /// steward itself, may have received later messages.
    private var missedByClient: [ProducerID: SeenMessage] = [:]
    /// The number of heartbeats of each client that stays in an epoch that the journal does not know.
    private var strangers: [ProducerID: Int] = [:]
    /// An epoch in which clients stay although the journal does not know it: its metadata was replaced by an older copy.
    private(set) var lostEpoch: UInt64?

    /// The messages that clients have not found again.
    var missed: [SeenMessage] { Array(missedByClient.values) }

    /// - Parameter epochs: Those of the journal.
    mutating func record(_ heartbeat: Heartbeat, in epochs: JournalEpochs) {
        guard let client = heartbeat.producer, counts(heartbeat, of: client, in: epochs) else { return }
        sequence = max(sequence, heartbeat.seen)
        guard let last = heartbeat.last else { return }
        if heartbeat.lacksLast != true {
            missedByClient[client] = nil
            record(last)
        } else if missedByClient[client] != nil || missedByClient.count < Self.missedCount {
            missedByClient[client] = last
        }
    }

    mutating func record(_ message: SeenMessage) {
        if message.sequence > last?.sequence ?? 0 { last = message }
    }

    /// True if a client is in the present epoch, or stays in one that the journal does not know.
    private mutating func counts(_ heartbeat: Heartbeat, of client: ProducerID, in epochs: JournalEpochs) -> Bool {
        guard heartbeat.epoch != epochs.current else {
            strangers[client] = nil
            return true
        }
        // A client whose epoch has ended, or whose journal was deleted, follows the reply at once.
        guard heartbeat.epoch != 0, !epochs.knows(heartbeat.epoch),
            strangers[client] != nil || strangers.count < Self.strangerCount
        else { return false }
        strangers[client, default: 0] += 1
        guard strangers[client] ?? 0 >= Self.strangerHeartbeats else { return false }
        lostEpoch = heartbeat.epoch
        return true
    }
}
