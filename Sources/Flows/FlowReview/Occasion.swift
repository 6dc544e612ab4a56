internal import Navigation

/// The conditions of a rule, except for the type of its message.
struct Occasion {
    var fields: [String: Flow.Match]
    var when: [Flow.Condition]
    var unless: [Flow.Condition]
    var isOwn: Bool

    init(of transition: Flow.Transition) {
        fields = transition.fields
        when = transition.when
        unless = transition.unless
        isOwn = transition.origin == .own
    }

    /// True if `other` certainly holds whenever this occasion holds.
    func implies(_ other: Occasion) -> Bool {
        other.fields.allSatisfy { name, match in fields[name]?.implies(match) ?? false }
            && other.when.allSatisfy { wanted in when.contains { $0.implies(wanted) } }
            && other.unless.allSatisfy(excludes)
            && (isOwn || !other.isOwn)
    }

    /// A condition that `when` requires, and a condition in `unless` that always holds with it, so that the rule never
    /// applies. Nil if there is no such pair.
    var contradiction: (when: Flow.Condition, unless: Flow.Condition)? {
        for wanted in when {
            if let unwanted = unless.first(where: wanted.implies) { return (wanted, unwanted) }
        }
        return nil
    }

    /// Two conditions of `when` on one part of the state, of which at most one holds at a time. Nil if there are none.
    var exclusion: (Flow.Condition, Flow.Condition)? {
        for (index, condition) in when.enumerated() {
            if let other = when[..<index].first(where: condition.excludes) { return (other, condition) }
        }
        return nil
    }

    private func excludes(_ condition: Flow.Condition) -> Bool {
        unless.contains { condition.implies($0) } || when.contains { $0.excludes(condition) }
    }

    /// The intersection of both occasions. Nil if it is empty or cannot be determined.
    func plainOverlap(with other: Occasion) -> Occasion? {
        var both = self
        both.isOwn = isOwn || other.isOwn
        both.unless += other.unless
        for (name, match) in other.fields {
            guard let overlap = fields[name].map({ $0.overlap(with: match) }) ?? match else { return nil }
            both.fields[name] = overlap
        }
        if when.isEmpty || other.when.isEmpty {
            both.when += other.when
        } else {
            let scopes = when.map(\.scope)
            guard scopes == other.when.map(\.scope), Set(scopes).count == scopes.count else { return nil }
            guard zip(when, other.when).count(where: { $0.screens != $1.screens }) <= 1 else { return nil }
            both.when = zip(when, other.when).compactMap { $0.overlap(with: $1) }
            guard both.when.count == when.count else { return nil }
        }
        return both.leavesSomething ? both : nil
    }

    /// True if the `unless` conditions do not exclude everything that the `when` conditions allow.
    private var leavesSomething: Bool {
        guard contradiction == nil, !unless.contains(where: \.screens.isEmpty) else { return false }
        // Two different `unless` conditions on a place count as an overlap only if `when` names the place.
        let doubled = Dictionary(grouping: Set(unless), by: \.scope).filter { $1.count > 1 }.keys
        guard doubled.allSatisfy({ scope in when.contains { $0.scope == scope } }) else { return false }
        return when.allSatisfy { wanted in
            let unwanted = unless.filter { $0.scope == wanted.scope }
            return wanted.screens.isEmpty
                || wanted.screens.contains { screen in
                    let alone = Flow.Condition(wanted.scope, [screen])
                    return !unwanted.contains { alone.implies($0) }
                }
        }
    }
}

extension Flow.Condition {
    /// True if `other` certainly holds whenever this condition holds.
    func implies(_ other: Flow.Condition) -> Bool {
        // The screen in front is always shown.
        guard scope == other.scope || (scope == .top && other.scope == .shown) else { return false }
        if screens.isEmpty { return other.screens.isEmpty }
        return screens.allSatisfy { screen in other.screens.contains { screen.isCovered(by: $0) } }
    }

    /// True if `other` certainly does not hold when this condition holds.
    func excludes(_ other: Flow.Condition) -> Bool {
        guard scope == other.scope else { return false }
        if screens.isEmpty || other.screens.isEmpty { return screens.isEmpty != other.screens.isEmpty }
        // All other places can contain several screens at once.
        guard [.root, .top, .tab, .sender].contains(scope) else { return false }
        return Set(screens.map(\.screen)).isDisjoint(with: other.screens.map(\.screen))
    }

    /// A condition with the common screens. If it holds, both conditions hold. Nil if there are no common screens.
    func overlap(with other: Flow.Condition) -> Flow.Condition? {
        if screens.isEmpty && other.screens.isEmpty { return self }
        let common =
            screens.filter { screen in other.screens.contains { screen.isCovered(by: $0) } }
            + other.screens.filter { screen in
                !screens.contains(screen) && screens.contains { screen.isCovered(by: $0) }
            }
        return common.isEmpty ? nil : Flow.Condition(scope, common)
    }
}

extension Flow.Destination {
    fileprivate func isCovered(by other: Flow.Destination) -> Bool {
        screen == other.screen && other.arguments.allSatisfy { arguments[$0.key] == $0.value }
    }
}

extension Flow.Match {
    /// True if `other` certainly allows every value that this condition allows.
    func implies(_ other: Flow.Match) -> Bool {
        if let anyOf { return anyOf.filter { holds(for: $0) }.allSatisfy { other.holds(for: $0) } }
        return other.anyOf == nil
            && other.noneOf.allSatisfy { noneOf.contains($0) || !holds(for: $0) }
            && (other.exists == nil || exists == other.exists || (other.exists == true && isNumeric))
            && (other.atLeast.map { (atLeast ?? -.infinity) >= $0 } ?? true)
            && (other.atMost.map { (atMost ?? .infinity) <= $0 } ?? true)
    }

    /// True if certainly no value is allowed.
    var isImpossible: Bool {
        anyOf.map { values in !values.contains { holds(for: $0) } } ?? (exists == false && isNumeric)
    }

    /// The values that both allow. Nil if there certainly are none.
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
