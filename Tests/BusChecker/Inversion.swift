/// Two values of one group that come the wrong way round.
struct Inversion {
    let earlier: Value
    let later: Value

    /// - Parameter rank: what must ascend within a group; nil for what is in no order.
    static func all(in values: [Value], rank: (Value) -> (group: String, rank: Int)?) -> [Inversion] {
        var highest: [String: (value: Value, rank: Int)] = [:]
        var inversions: [Inversion] = []
        for value in values {
            guard let (group, rank) = rank(value) else { continue }
            if let last = highest[group], last.rank > rank {
                inversions.append(Inversion(earlier: value, later: last.value))
            } else {
                highest[group] = (value, rank)
            }
        }
        return inversions
    }
}
