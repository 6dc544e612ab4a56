internal import Support

extension Array {
    /// Returns the elements in an order that depends only on `seed`: a Fisher–Yates shuffle with ``SplitMix64``.
    package func shuffled(seed: String) -> [Element] {
        var random = SplitMix64(seed: seed)
        var result = self
        for last in stride(from: count - 1, to: 0, by: -1) {
            result.swapAt(last, random.next(below: last + 1))
        }
        return result
    }
}

/// A small random number generator with the same sequence on every machine: SplitMix64 (Steele, Lea and Flood, 2014).
/// It is not suitable for secrets.
package struct SplitMix64 {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    /// Seeds the generator with the hash of a string.
    package init(seed text: String) {
        var hash = FNV1a()
        hash.combine(text)
        state = hash.value
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A number in `0..<bound`: the high half of a product (Lemire, 2019), without the rejection step.
    package mutating func next(below bound: Int) -> Int {
        Int(next().multipliedFullWidth(by: UInt64(bound)).high)
    }
}
