import NATS
import TestSupport
import Testing

@Suite struct SequenceComparisonTests {
    @Test func `Whatever the sources lack, and in whatever portions they tell it, each difference is found once`() {
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

    @Test func `A sequence that comes again, or late, is ignored`() {
        var comparison = SequenceComparison(count: 2)
        for sequence in [1, 2, 2, 1, 3] { comparison.add(sequence, from: 0) }
        for sequence in [1, 3] { comparison.add(sequence, from: 1) }
        #expect(comparison.step() == .difference(sequence: 2, lacking: [1]))
        comparison.end(0)
        comparison.end(1)
        #expect(comparison.step() == .end)
    }
}
