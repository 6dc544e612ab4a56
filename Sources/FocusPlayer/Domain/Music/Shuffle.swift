extension Array {
    /// The order that belongs to `seed`: Fisher–Yates, drawn from ``SplitMix64``.
    ///
    /// A replay has to give the same order, which the standard library promises for one of its versions only.
    package func shuffled(seed: String) -> [Element] {
        var random = SplitMix64(seed: seed)
        var result = self
        for last in stride(from: count - 1, to: 0, by: -1) {
            result.swapAt(last, random.next(below: last + 1))
        }
        return result
    }
}

/// A small random number generator whose sequence is the same on every machine, for ever: SplitMix64 (Steele, Lea and
/// Flood, 2014). Good for shuffling, not for secrets.
package struct SplitMix64 {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    /// Seeds it with a text's 64-bit FNV-1a hash; Swift's own hashes differ from process to process on purpose.
    package init(seed text: String) {
        state = text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A number in `0..<bound`: the high half of a product (Lemire, 2019), without his rejection step. For a playlist
    /// the bias stays below one in 2⁴⁸.
    package mutating func next(below bound: Int) -> Int {
        Int(next().multipliedFullWidth(by: UInt64(bound)).high)
    }
}
