import TestSupport
import Testing

@testable import FlowExploration

@Suite("The fewest sets that have all elements")
struct SmallestCoverTests {
    @Test("The largest set is not taken if two others do without it")
    func twoOfThree() {
        let cover = SmallestCover(of: [[1, 2, 3, 4], [1, 3, 5], [2, 4, 6]])
        #expect(cover.indices == [1, 2] && cover.isProved)
    }

    @Test("No sets, and sets without elements, need none")
    func nothing() {
        #expect(SmallestCover<Int>(of: []).indices == [])
        #expect(SmallestCover<Int>(of: [[], []]).indices == [])
    }

    @Test("No fewer of random sets do", arguments: 0..<200)
    func random(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let sets = (0..<10).map { _ in Set((0..<8).filter { _ in random.next().isMultiple(of: 3) }) }
        let all = sets.reduce(into: Set()) { $0.formUnion($1) }
        func isWhole(_ indices: [Int]) -> Bool {
            indices.reduce(into: Set()) { $0.formUnion(sets[$1]) } == all
        }
        let cover = SmallestCover(of: sets)
        let fewest = (0..<1 << sets.count).filter { mask in
            isWhole(sets.indices.filter { mask & 1 << $0 != 0 })
        }.map(\.nonzeroBitCount).min()
        #expect(isWhole(cover.indices) && cover.isProved)
        #expect(cover.indices.count == fewest)
    }

    @Test("A search that takes too long ends with sets that have all elements, and says that fewer might do")
    func tooMany() {
        var random = SeededGenerator(seed: 1)
        let sets = (0..<300).map { _ in Set((0..<200).filter { _ in random.next().isMultiple(of: 20) }) }
        let cover = SmallestCover(of: sets)
        #expect(!cover.isProved)
        #expect(Set(cover.indices.flatMap { sets[$0] }) == Set(sets.joined()))
    }
}
