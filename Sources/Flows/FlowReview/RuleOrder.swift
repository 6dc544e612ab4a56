internal import Navigation
internal import Support

extension FlowReviewer {
    /// Compares the rules that answer the same message, within the flow itself and within each child flow.
    mutating func reviewRules() {
        var lists: [[String]: [OrderedRule]] = [:]
        for (rule, transition) in flow.placedRules {
            let ordered = OrderedRule(keyPath: rule.keyPath, transition: transition)
            reviewContradictions(in: ordered)
            for trigger in transition.triggers { lists[[rule.flow ?? "", trigger], default: []].append(ordered) }
        }
        var rivals: Set<[String]> = []
        let sorted = lists.sorted { one, other in
            (one.value[0].keyPath, one.key[1]) < (other.value[0].keyPath, other.key[1])
        }
        for (list, rules) in sorted {
            if rules[0].transition.after != nil {
                reviewWaits(rules)
                continue
            }
            var order = RuleOrder()
            for rule in rules where !rule.isImpossible {
                guard let finding = order.add(rule) else { continue }
                // Rules that compete for several types are reported once.
                if case .competes(let rival) = finding, !rivals.insert([rule.keyPath, rival]).inserted { continue }
                report(finding, of: rule, on: list[1])
                if finding == .unknown { break }
            }
        }
    }

    /// Finds rules that wait under the same conditions as an earlier one. Others do not compete: each has its own wait.
    private mutating func reviewWaits(_ rules: [OrderedRule]) {
        var known: [[Set<Flow.Condition>]: String] = [:]
        for rule in rules {
            let occasion = [Set(rule.transition.when), Set(rule.transition.unless)]
            if let earlier = known[occasion] {
                warn(
                    .neverApplies,
                    "the rule never applies: an earlier rule waits for the same time under the same conditions; join "
                        + "their actions",
                    at: rule.keyPath, see: earlier)
            } else {
                known[occasion] = rule.keyPath
            }
        }
    }

    private mutating func report(_ finding: RuleOrder.Finding, of rule: OrderedRule, on type: String) {
        switch finding {
        case .shadowed(let earlier):
            let isOnly = rule.transition.on == [type]
            warn(
                .neverApplies,
                "the rule never applies\(isOnly ? "" : " to '\(type)'"): an earlier rule already matches every "
                    + "'\(type)' that this rule matches; move this rule before it, or remove this "
                    + (isOnly ? "rule" : "type"),
                at: rule.keyPath, see: earlier)
        case .competes(let rival):
            warn(
                .competingRules,
                "the rule competes with an earlier one for '\(type)': both can match, and only their order decides; "
                    + "add a condition to one that excludes the other",
                at: rule.keyPath, see: rival)
        case .unknown:
            addNote(
                .uncomparedRules,
                "the rules on '\(type)' from here on were not compared with each other, because there are too many; "
                    + "divide them by a condition on 'top' or 'root', or by a field's value",
                at: rule.keyPath)
        }
    }

    private mutating func reviewContradictions(in rule: OrderedRule) {
        for (field, match) in rule.transition.fields.sorted(by: { $0.key < $1.key }) where match.isImpossible {
            warn(
                .neverApplies,
                "no value fulfils all of these conditions, so the rule never applies; correct them",
                at: "\(rule.keyPath).where.\(field)")
        }
        let required = Flow.Condition.placed(rule.transition.when, at: "\(rule.keyPath).when")
        if let (first, second) = rule.occasion.exclusion {
            warn(
                .neverApplies,
                "two conditions of 'when' exclude each other, so the rule never applies; remove one of them",
                at: required.last { $0.condition == second }?.keyPath ?? rule.keyPath,
                see: required.first { $0.condition == first }?.keyPath)
        }
        guard let (wanted, unwanted) = rule.occasion.contradiction else { return }
        let excluded = Flow.Condition.placed(rule.transition.unless, at: "\(rule.keyPath).unless")
        warn(
            .neverApplies,
            "'unless' excludes what 'when' requires, so the rule never applies; remove one of them",
            at: excluded.first { $0.condition == unwanted }?.keyPath ?? rule.keyPath,
            see: required.first { $0.condition == wanted }?.keyPath)
    }
}

/// A rule with its place in the flow.
struct OrderedRule {
    let keyPath: String
    let transition: Flow.Transition
    let occasion: Occasion

    init(keyPath: String, transition: Flow.Transition) {
        self.keyPath = keyPath
        self.transition = transition
        occasion = Occasion(of: transition)
    }

    var isImpossible: Bool {
        occasion.contradiction != nil || occasion.exclusion != nil
            || occasion.fields.values.contains(where: \.isImpossible)
    }

    /// True if a later rule never applies because of this rule.
    func shadows(_ later: OrderedRule) -> Bool {
        guard later.occasion.implies(occasion) else { return false }
        // Rules that ask the same question may accept different answers.
        guard transition.asks(like: later.transition), let answer = transition.guard?.accept,
            let others = later.transition.guard?.accept
        else { return true }
        return Set(answer.on).isSuperset(of: others.on)
            && answer.fields.allSatisfy { name, match in others.fields[name]?.implies(match) ?? false }
    }

    func asksTheSame(as other: OrderedRule) -> Bool {
        transition.actions == other.transition.actions && transition.guard == other.transition.guard
    }
}

/// Compares each rule on a message with the rules before it.
///
/// An index of the front screens, roots, tabs and field values that rules require finds the rules that can match
/// together.
struct RuleOrder {
    enum Finding: Equatable {
        /// The rule never applies, because of the rule at this place.
        case shadowed(by: String)
        /// The rule competes with the rule at this place.
        case competes(with: String)
        /// There are too many rules to compare.
        case unknown
    }

    /// The maximum number of comparisons of the rules on one message.
    private static let limit = 500_000

    /// A requirement that can exclude a rule: a scope of the state or a field.
    private enum Feature: Hashable {
        case scope(Flow.Condition.Scope)
        case field(String)
    }

    private var rules: [OrderedRule] = []
    /// The rules by one of their requirements and by its values. Each rule is in one list for each value.
    private var indexed: [Feature: [String: [Int]]] = [:]
    /// The rules without such a requirement.
    private var others: [Int] = []
    private var comparisons = 0

    /// Adds the next rule in the order of the flow. Nil if it neither is shadowed nor competes.
    mutating func add(_ rule: OrderedRule) -> Finding? {
        let candidates = candidates(for: rule)
        comparisons += 2 * candidates.count
        if comparisons > Self.limit { return .unknown }
        if let earlier = candidates.first(where: { rules[$0].shadows(rule) }) {
            return .shadowed(by: rules[earlier].keyPath)
        }
        let rival = candidates.first { competes(rules[$0], rule, before: $0) }
        enter(rule)
        return rival.map { .competes(with: rules[$0].keyPath) }
    }

    /// True if two rules can apply to the same message with different actions, and neither is a special case of the
    /// other.
    private func competes(_ earlier: OrderedRule, _ later: OrderedRule, before index: Int) -> Bool {
        guard !earlier.asksTheSame(as: later), !earlier.occasion.implies(later.occasion),
            let both = earlier.occasion.plainOverlap(with: later.occasion)
        else { return false }
        // If a third rule before `earlier` matches whenever both apply, that rule decides, and the two do not compete.
        return !rules[..<index].contains { both.implies($0.occasion) }
    }

    private mutating func enter(_ rule: OrderedRule) {
        let index = rules.count
        rules.append(rule)
        guard let (feature, values) = Self.requirements(of: rule).first else { return others.append(index) }
        for value in values { indexed[feature, default: [:]][value, default: []].append(index) }
    }

    /// The earlier rules that may match the same message as this rule, in order.
    private func candidates(for rule: OrderedRule) -> [Int] {
        let requirements = Dictionary(Self.requirements(of: rule)) { first, _ in first }
        let matching = indexed.map { feature, lists in
            guard let values = requirements[feature] else { return lists.values.flatMap(\.self) }
            return values.flatMap { lists[$0] ?? [] }
        }
        return Set(matching.flatMap(\.self) + others).sorted()
    }

    /// The requirements of a rule, each with all values that fulfil it.
    private static func requirements(of rule: OrderedRule) -> [(feature: Feature, values: Set<String>)] {
        let scopes: [Flow.Condition.Scope] = [.top, .root, .tab]
        let conditions = scopes.compactMap { scope in rule.occasion.when.first { $0.scope == scope } }
        let fields = rule.occasion.fields.sorted { $0.key < $1.key }
        return conditions.map { (.scope($0.scope), Set($0.screens.map(\.screen))) }
            + fields.compactMap { name, match in
                match.anyOf.map { (.field(name), Set($0.map(\.description))) }
            }
    }
}
