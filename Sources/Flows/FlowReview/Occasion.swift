internal import Navigation
internal import Support

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
        if Set(screens.map(\.screen)).isDisjoint(with: other.screens.map(\.screen)) { return true }
        guard screens.contains(where: { !$0.arguments.isEmpty }) else { return false }
        return screens.allSatisfy { screen in other.screens.allSatisfy { screen.excludes($0) } }
    }

    /// A condition with the common screens. If it holds, both conditions hold. Nil if there are no common screens.
    func overlap(with other: Flow.Condition) -> Flow.Condition? {
        if screens.isEmpty && other.screens.isEmpty { return self }
        let common =
            screens.filter { screen in other.screens.contains { screen.isCovered(by: $0) } }
            + other.screens.filter { screen in
                !screens.contains(screen) && screens.contains { screen.isCovered(by: $0) }
            }
        let parts = common.isEmpty ? screens.flatMap { screen in other.screens.compactMap(screen.overlap) } : common
        return parts.isEmpty ? nil : Flow.Condition(scope, parts)
    }
}

extension Flow.Condition.Screen {
    fileprivate func isCovered(by other: Self) -> Bool {
        screen == other.screen
            && other.arguments.allSatisfy { name, match in arguments[name]?.impliesArgument(match) ?? false }
    }

    /// True if certainly no instance fulfils both.
    fileprivate func excludes(_ other: Self) -> Bool {
        screen != other.screen
            || arguments.contains { name, match in
                other.arguments[name].map {
                    !match.hasTemplates && !$0.hasTemplates && match.argumentOverlap($0) == nil
                }
                    ?? false
            }
    }

    /// The instances that fulfil both, if both have conditions on the same arguments. Nil if there are none or if they
    /// cannot be determined.
    fileprivate func overlap(with other: Self) -> Self? {
        guard screen == other.screen, Set(arguments.keys) == Set(other.arguments.keys) else { return nil }
        var common: [String: Flow.Match] = [:]
        for (name, match) in arguments {
            guard let wanted = other.arguments[name] else { return nil }
            if match.hasTemplates || wanted.hasTemplates {
                guard match == wanted else { return nil }
                common[name] = match
            } else {
                guard let overlap = match.argumentOverlap(wanted) else { return nil }
                common[name] = overlap
            }
        }
        return .screen(screen, common)
    }
}

extension Flow.Match {
    /// True if `other` certainly allows every value that this condition allows.
    func implies(_ other: Flow.Match) -> Bool { implies(other) { $0.holds(for: $1) } }

    /// As ``implies(_:)``, for conditions on an argument. The value of a template is not known.
    fileprivate func impliesArgument(_ other: Flow.Match) -> Bool {
        if self == other { return true }
        guard hasTemplates || other.hasTemplates else { return implies(other) { $0.holds(forArgument: $1) } }
        guard let anyOf, other.isList, let others = other.anyOf else { return false }
        return anyOf.allSatisfy(others.contains)
    }

    fileprivate var hasTemplates: Bool {
        values.flatMap(\.texts).contains { $0.contains(scalars: "${") }
    }

    private func implies(_ other: Flow.Match, _ holds: (Flow.Match, JSONValue) -> Bool) -> Bool {
        if let anyOf { return anyOf.filter { holds(self, $0) }.allSatisfy { holds(other, $0) } }
        return other.anyOf == nil
            && other.noneOf.allSatisfy { noneOf.contains($0) || !holds(self, $0) }
            && (other.exists == nil || exists == other.exists || (other.exists == true && isNumeric))
            && (other.atLeast.map { (atLeast ?? -.infinity) >= $0 } ?? true)
            && (other.atMost.map { (atMost ?? .infinity) <= $0 } ?? true)
    }

    /// True if certainly no value is allowed.
    var isImpossible: Bool { isImpossible { $0.holds(for: $1) } }

    private func isImpossible(_ holds: (Flow.Match, JSONValue) -> Bool) -> Bool {
        anyOf.map { values in !values.contains { holds(self, $0) } } ?? (exists == false && isNumeric)
    }

    /// The values that both allow. Nil if there certainly are none.
    func overlap(with other: Flow.Match) -> Flow.Match? { overlap(with: other) { $0.holds(for: $1) } }

    /// As ``overlap(with:)``, for conditions on an argument.
    fileprivate func argumentOverlap(_ other: Flow.Match) -> Flow.Match? {
        overlap(with: other) { $0.holds(forArgument: $1) }
    }

    private func overlap(with other: Flow.Match, _ holds: (Flow.Match, JSONValue) -> Bool) -> Flow.Match? {
        let both = Flow.Match(
            anyOf: anyOf?.filter { holds(other, $0) } ?? other.anyOf?.filter { holds(self, $0) },
            noneOf: noneOf + other.noneOf,
            exists: exists ?? other.exists,
            atLeast: [atLeast, other.atLeast].compactMap(\.self).max(),
            atMost: [atMost, other.atMost].compactMap(\.self).min()
        )
        if let exists, let others = other.exists, exists != others { return nil }
        if let least = both.atLeast, let most = both.atMost, least > most { return nil }
        return both.isImpossible(holds) ? nil : both
    }

    private var isNumeric: Bool { atLeast != nil || atMost != nil }
}
