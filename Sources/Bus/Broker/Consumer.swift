internal import BusProtocol
internal import EventBus
internal import Foundation

/// A durable consumer as the journal keeps it.
struct Consumer {
    /// A journal has no more of them: each takes 64 rows, and holds retention up.
    static let capacity = 4096
    /// Members that share one consumer: four for each partition, of which all but 64 wait for one that leaves.
    static let memberCapacity = 256

    var group = ConsumerGroup()
    /// Whose silence ends the membership of those that share.
    var producers: [UUID: ProducerID] = [:]
    var cutOffs: [CutOffRow] = []

    /// Adds to what no claim has been told of yet.
    mutating func add(_ cutOff: CutOff) {
        if let index = cutOffs.firstIndex(where: { $0.ownerEpoch == 0 && $0.cutOff.type == cutOff.type }) {
            cutOffs[index] = CutOffRow(cutOff: cutOffs[index].cutOff.merged(with: cutOff), ownerEpoch: 0)
        } else {
            cutOffs.append(CutOffRow(cutOff: cutOff, ownerEpoch: 0))
        }
    }
}
