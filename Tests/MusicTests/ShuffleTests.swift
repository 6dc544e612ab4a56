import Music
import Testing

@Suite("Seeded shuffle")
struct ShuffleTests {
    @Test("The generator is SplitMix64: its published first numbers for the seed 1234567")
    func reference() {
        var random = SplitMix64(seed: 1_234_567)
        #expect(
            (0..<3).map { _ in random.next() } == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
            ])
    }

    @Test("An id gives the same order on every machine")
    func pinned() {
        #expect(Array(0..<10).shuffled(seed: "0e7f6c1a") == [0, 5, 2, 6, 7, 3, 8, 4, 9, 1])
        #expect(Array(0..<10).shuffled(seed: "0e7f6c1b") == [8, 0, 5, 4, 3, 9, 2, 7, 6, 1])
    }

    @Test("Every song occurs once with any seed, and different ids give different orders")
    func permutation() {
        let songs = Array(0..<50)
        let orders = (0..<100).map { songs.shuffled(seed: "message-\($0)") }
        #expect(orders.allSatisfy { $0.sorted() == songs })
        #expect(Set(orders).count == 100)
    }

    @Test("Each song comes first about as often as any other")
    func fairness() {
        var firsts = [Int](repeating: 0, count: 6)
        for seed in 0..<6000 {
            firsts[Array(0..<6).shuffled(seed: "\(seed)")[0]] += 1
        }
        // A standard deviation is √(6000 · 1/6 · 5/6) ≈ 29. The range extends six standard deviations to both sides of
        // the mean, 1000. The seeds are fixed, so the test always has the same result.
        #expect(firsts.allSatisfy { (826...1174).contains($0) })
    }

    @Test("No song and one song stay as they are")
    func short() {
        #expect([Int]().shuffled(seed: "a").isEmpty)
        #expect([1].shuffled(seed: "a") == [1])
    }
}
