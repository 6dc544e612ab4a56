import Testing

@testable import Steward

@Suite("Sequences that a server lacks")
struct SequenceGapsTests {
    private func gaps(_ sequences: some Sequence<Int>) -> SequenceGaps {
        sequences.reduce(into: SequenceGaps()) { $0.add($1) }
    }

    @Test func `The gaps are described by their number and their range`() {
        #expect(gaps([7]).text == "message 7")
        #expect(gaps([4, 9, 6]).text == "3 messages (sequences 4 to 9)")
    }

    @Test func `The description of too many gaps has a lower bound`() {
        let many = gaps(1...100_001)
        #expect(many.isTruncated)
        #expect(many.text == "at least 100000 messages (sequences 1 to 100000 at least)")
        #expect(many.intersection(gaps(5...6)).text == "at least 2 messages (sequences 5 to 6 at least)")
        #expect(gaps([5]).intersection(many).text == "at least message 5")
    }
}
