import NATS
import TestSupport
import Testing

@Suite struct SequenceComparisonTests {
    @Test func `Each difference between random sources is found once, in any portions`() {
        for seed in 0..<500 {
            var random = SeededGenerator(seed: UInt64(seed))
            let count = Int.random(in: 1...4, using: &random)
            let all = (1...60).filter { _ in Int.random(in: 0..<3, using: &random) > 0 }
            let told = (0..<count).map { _ in
                let isDamaged = Bool.random(using: &random)
                return all.filter { _ in !isDamaged || Int.random(in: 0..<4, using: &random) > 0 }
            }
            var (found, rest) = ([Int: Set<Int>](), told.map { $0[...] })
            var comparison = SequenceComparison(count: count)
            comparing: while true {
                switch comparison.step() {
                case .needs(let source):
                    let portion = rest[source].prefix(Int.random(in: 1...5, using: &random))
                    for sequence in portion { comparison.add(sequence, from: source) }
                    rest[source] = rest[source].dropFirst(portion.count)
                    if rest[source].isEmpty { comparison.end(source) }
                case .difference(let sequence, let lacking):
                    #expect(found.keys.allSatisfy { $0 < sequence })
                    found[sequence] = lacking
                case .conflict(let sequence, _): Issue.record("no source has another message \(sequence)")
                case .end: break comparing
                }
            }
            var expected: [Int: Set<Int>] = [:]
            for sequence in all {
                let lacking = Set((0..<count).filter { !told[$0].contains(sequence) })
                if !lacking.isEmpty, lacking.count < count { expected[sequence] = lacking }
            }
            #expect(found == expected, "seed \(seed)")
        }
    }

    @Test func `Each sequence at which another history has another message is found once`() {
        for seed in 0..<500 {
            var random = SeededGenerator(seed: UInt64(seed))
            let count = Int.random(in: 2...4, using: &random)
            // The last source has other messages after the fork, up to its end. From there on it has those of the others.
            let fork = Int.random(in: 0...40, using: &random)
            let end = Int.random(in: fork...60, using: &random)
            func history(_ isOther: Bool) -> [Int: Int64] {
                let isThere = (1...60).map { $0 > fork && $0 <= end ? Int.random(in: 0..<3, using: &random) > 0 : true }
                return Dictionary(
                    uniqueKeysWithValues: (1...60).filter { isThere[$0 - 1] }.map { sequence in
                        (sequence, Int64(isOther && sequence > fork && sequence <= end ? 1000 + sequence : sequence))
                    })
            }
            let (common, other) = (history(false), history(true))
            var comparison = SequenceComparison(count: count)
            for source in 0..<count {
                let told = source == count - 1 ? other : common
                for sequence in told.keys.sorted() { comparison.add(sequence, at: told[sequence], from: source) }
                comparison.end(source)
            }
            var (conflicts, differences): ([Int: [Int: Int64]], [Int: Set<Int>]) = ([:], [:])
            comparing: while true {
                switch comparison.step() {
                case .needs(let source): Issue.record("source \(source) has told all")
                case .difference(let sequence, let lacking): differences[sequence] = lacking
                case .conflict(let sequence, let times): conflicts[sequence] = times
                case .end: break comparing
                }
            }
            for sequence in 1...60 {
                let (first, second) = (common[sequence], other[sequence])
                let areBoth = first != nil && second != nil
                #expect((conflicts[sequence] != nil) == (areBoth && first != second), "seed \(seed)")
                #expect((differences[sequence] != nil) == (!areBoth && first != second), "seed \(seed)")
            }
            #expect(conflicts.values.allSatisfy { $0.count == count && Set($0.values).count == 2 })
        }
    }

    @Test func `A record without times agrees with every message`() {
        var comparison = SequenceComparison(count: 3)
        comparison.add(1, at: 10, from: 0)
        comparison.add(1, at: 10, from: 1)
        comparison.add(1, from: 2)
        for source in 0..<3 { comparison.end(source) }
        #expect(comparison.step() == .end)
    }

    @Test func `A repeated or late sequence is ignored`() {
        var comparison = SequenceComparison(count: 2)
        for sequence in [1, 2, 2, 1, 3] { comparison.add(sequence, from: 0) }
        for sequence in [1, 3] { comparison.add(sequence, from: 1) }
        #expect(comparison.step() == .difference(sequence: 2, lacking: [1]))
        comparison.end(0)
        comparison.end(1)
        #expect(comparison.step() == .end)
    }
}
