import BusFormat
import NATSLayout
import Testing

@testable import Steward

@Suite("End of the journal that clients have seen")
struct KnownEndTests {
    private let epochs = JournalEpochs(7)
    private let first = ProducerID()
    private let second = ProducerID()
    private var known = KnownEnd()

    private func heartbeat(
        _ client: ProducerID, _ sequence: UInt64, lacksLast: Bool? = nil, epoch: UInt64 = 7
    ) -> Heartbeat {
        Heartbeat(
            producer: client, members: [], seen: sequence, epoch: epoch,
            last: SeenMessage(sequence: sequence, time: Int64(sequence)), lacksLast: lacksLast)
    }

    @Test mutating func `A client that lacks nothing, or something else, does not hide what another one lacks`() {
        known.record(heartbeat(first, 5, lacksLast: true), in: epochs)
        known.record(heartbeat(second, 9), in: epochs)
        known.record(heartbeat(second, 3, lacksLast: true), in: epochs)
        #expect(Set(known.missingMessages.map(\.sequence)) == [3, 5])
        #expect(known.last?.sequence == 9)
        #expect(known.sequence == 9)
    }

    @Test mutating func `A client that has found its message again no longer lacks it`() {
        known.record(heartbeat(first, 5, lacksLast: true), in: epochs)
        known.record(heartbeat(first, 6, lacksLast: true), in: epochs)
        #expect(known.missingMessages.map(\.sequence) == [6])
        known.record(heartbeat(first, 6, lacksLast: false), in: epochs)
        #expect(known.missingMessages == [])
        #expect(known.last?.sequence == 6)
    }

    @Test mutating func `The number of clients that lack something is limited`() {
        for number in 1...100 { known.record(heartbeat(ProducerID(), UInt64(number), lacksLast: true), in: epochs) }
        #expect(known.missingMessages.count == 16)
        let kept = known.missingMessages
        known.record(heartbeat(first, 5, lacksLast: true), in: epochs)
        #expect(Set(known.missingMessages) == Set(kept))
    }

    @Test mutating func `A client in the current epoch does not hide one that stays in an unknown one`() {
        for _ in 0..<2 {
            known.record(heartbeat(first, 5, epoch: 8), in: epochs)
            known.record(heartbeat(second, 6), in: epochs)
        }
        #expect(known.lostEpoch == nil)
        #expect(known.sequence == 6)
        known.record(heartbeat(first, 9, epoch: 8), in: epochs)
        #expect(known.lostEpoch == 8)
        #expect(known.sequence == 9)
    }

    @Test mutating func `A client that follows the journal to its epoch, or has none, does not count`() {
        for _ in 0..<2 { known.record(heartbeat(first, 9, epoch: 8), in: epochs) }
        known.record(heartbeat(first, 4), in: epochs)
        known.record(heartbeat(first, 9, epoch: 8), in: epochs)
        for _ in 0..<5 {
            known.record(heartbeat(second, 9, epoch: 0), in: epochs)
            known.record(heartbeat(second, 9, epoch: 7), in: JournalEpochs(7).beginning(8, after: 3))
        }
        #expect(known.lostEpoch == nil)
        #expect(known.sequence == 4)
    }
}
