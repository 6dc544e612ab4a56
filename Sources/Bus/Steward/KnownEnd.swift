internal import BusFormat
internal import NATSLayout

/// The end of a journal, as far as clients and the steward have seen it, as a value without side effects.
///
/// What one client reports never replaces the report of another one: a client that is right about a loss must not be
/// hidden by one that is wrong, or that does not know of it.
struct KnownEnd: Hashable, Sendable {
    /// The epoch of a client in relation to the journal's.
    private enum EpochRelation {
        case current
        /// The epoch has ended, or the client's journal was deleted (0). The client follows the reply at once.
        case ended
        case unknown
    }

    /// The number of a client's heartbeats in an unknown epoch after which the epoch counts as lost.
    private static let heartbeatsUntilEpochCounts = 3
    /// The maximum number of clients whose heartbeats in unknown epochs are counted.
    private static let unknownEpochClientLimit = 64
    /// The maximum number of clients whose missing messages are kept. Each of them is asked for at each check until one
    /// is lost.
    private static let missingMessageLimit = 16

    /// The highest sequence that a client has seen.
    private(set) var sequence: UInt64 = 0
    /// The last message that a client or the steward has received.
    private(set) var last: SeenMessage?
    /// The last message of each client that has not found it again. A client that does not know of the loss, or the
    /// steward itself, may have received later messages.
    private var missingMessageByClient: [ProducerID: SeenMessage] = [:]
    /// The number of heartbeats that each client has sent in an epoch that the journal does not know.
    private var heartbeatsInUnknownEpoch: [ProducerID: Int] = [:]
    /// An epoch in which clients stay although the journal does not know it: its metadata was replaced by an older
    /// copy.
    private(set) var lostEpoch: UInt64?

    /// The messages that clients have not found again.
    var missingMessages: [SeenMessage] { Array(missingMessageByClient.values) }

    /// Records what a client has seen, if the client is in the journal's epoch or stays in one that the journal has
    /// lost.
    /// - Parameter epochs: The epochs of the journal.
    mutating func record(_ heartbeat: Heartbeat, in epochs: JournalEpochs) {
        guard let client = heartbeat.producer else { return }
        switch relation(of: heartbeat.epoch, to: epochs) {
        case .current: heartbeatsInUnknownEpoch[client] = nil
        case .ended: return
        case .unknown: guard confirmLostEpoch(heartbeat.epoch, of: client) else { return }
        }
        sequence = max(sequence, heartbeat.seen)
        guard let last = heartbeat.last else { return }
        if heartbeat.lacksLast != true {
            missingMessageByClient[client] = nil
            record(last)
        } else if missingMessageByClient[client] != nil || missingMessageByClient.count < Self.missingMessageLimit {
            missingMessageByClient[client] = last
        }
    }

    mutating func record(_ message: SeenMessage) {
        if message.sequence > last?.sequence ?? 0 { last = message }
    }

    private func relation(of epoch: UInt64, to epochs: JournalEpochs) -> EpochRelation {
        if epoch == epochs.current { return .current }
        return epoch == 0 || epochs.knows(epoch) ? .ended : .unknown
    }

    /// Counts a heartbeat in an epoch that the journal does not know. The epoch is lost if the client has sent enough
    /// of them.
    /// - Returns: True if the client stays in the epoch.
    private mutating func confirmLostEpoch(_ epoch: UInt64, of client: ProducerID) -> Bool {
        let count = heartbeatsInUnknownEpoch[client]
        guard count != nil || heartbeatsInUnknownEpoch.count < Self.unknownEpochClientLimit else { return false }
        let newCount = (count ?? 0) + 1
        heartbeatsInUnknownEpoch[client] = newCount
        guard newCount >= Self.heartbeatsUntilEpochCounts else { return false }
        lostEpoch = epoch
        return true
    }
}
