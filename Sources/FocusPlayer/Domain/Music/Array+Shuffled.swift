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
