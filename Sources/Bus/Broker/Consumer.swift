internal import BusProtocol
internal import EventBus
internal import Foundation

/// A durable consumer as the journal keeps it.
struct Consumer {
    /// A journal has no more of them: each takes 64 rows, and holds retention up.
    static let capacity = 4096

    var group = ConsumerGroup()
    /// Whose silence ends the membership of those that share.
    var producers: [UUID: ProducerID] = [:]
    var cutOffs: [CutOffRow] = []
}
