import Testing

@testable import Steward

@Suite("Known differences of servers") struct ReplicaDifferencesTests {
    private func differences(lacking: [String: Int] = [:], lost: [Int] = []) -> ReplicaDifferences {
        var differences = ReplicaDifferences()
        for (server, sequence) in lacking { differences.incomplete[server, default: SequenceGaps()].add(sequence) }
        for sequence in lost { differences.lost.add(sequence) }
        return differences
    }

    @Test func `The differences of an absent server are kept, and so are losses on all servers`() {
        let known = differences(lacking: ["n2": 7, "n3": 9], lost: [4])
        #expect(ReplicaDifferences().keeping(known, of: ["n3"]) == differences(lacking: ["n3": 9], lost: [4]))
        #expect(ReplicaDifferences().keeping(known, of: []) == ReplicaDifferences())
        let found = differences(lacking: ["n2": 8])
        #expect(found.keeping(known, of: ["n3"]) == differences(lacking: ["n2": 8, "n3": 9], lost: [4]))
        #expect(found.keeping(nil, of: ["n3"]) == found)
    }

    @Test func `A difference counts when it is found twice`() {
        let first = differences(lacking: ["n2": 7, "n3": 9], lost: [4, 5])
        let second = differences(lacking: ["n2": 7, "n3": 10], lost: [5])
        #expect(first.confirmed(by: second) == differences(lacking: ["n2": 7], lost: [5]))
    }
}
