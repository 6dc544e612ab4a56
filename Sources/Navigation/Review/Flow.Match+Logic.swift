extension Flow.Match {
    /// Whether every value that this allows is one that `other` allows.
    func implies(_ other: Flow.Match) -> Bool {
        if let anyOf { return anyOf.filter { holds(for: $0) }.allSatisfy { other.holds(for: $0) } }
        return other.anyOf == nil
            && other.noneOf.allSatisfy { noneOf.contains($0) || !holds(for: $0) }
            && (other.exists == nil || exists == other.exists || (other.exists == true && isNumeric))
            && (other.atLeast.map { (atLeast ?? -.infinity) >= $0 } ?? true)
            && (other.atMost.map { (atMost ?? .infinity) <= $0 } ?? true)
    }

    /// Whether no value at all is allowed.
    var isImpossible: Bool {
        anyOf.map { values in !values.contains { holds(for: $0) } } ?? (exists == false && isNumeric)
    }

    /// What both allow; nil when that is plainly nothing.
    func overlap(with other: Flow.Match) -> Flow.Match? {
        let both = Flow.Match(
            anyOf: anyOf?.filter { other.holds(for: $0) } ?? other.anyOf?.filter { holds(for: $0) },
            noneOf: noneOf + other.noneOf,
            exists: exists ?? other.exists,
            atLeast: [atLeast, other.atLeast].compactMap(\.self).max(),
            atMost: [atMost, other.atMost].compactMap(\.self).min()
        )
        if let exists, let others = other.exists, exists != others { return nil }
        if let least = both.atLeast, let most = both.atMost, least > most { return nil }
        return both.isImpossible ? nil : both
    }

    private var isNumeric: Bool { atLeast != nil || atMost != nil }
}
