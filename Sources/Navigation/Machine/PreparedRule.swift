internal import Support

/// A rule with its place in the flow, and with parsed paths of the fields in its conditions.
final class PreparedRule: Sendable {
    let transition: Flow.Transition
    /// The place in the flow, such as `transitions[3]`.
    let keyPath: String
    /// The answer that the rule's guard accepts. Nil for a rule without a guard.
    let accept: PreparedAnswer?
    let reject: PreparedAnswer?
    private let fields: FieldConditions

    init(_ transition: Flow.Transition, keyPath: String) {
        self.transition = transition
        self.keyPath = keyPath
        accept = transition.guard.map { PreparedAnswer($0.accept) }
        reject = transition.guard?.reject.map { PreparedAnswer($0) }
        fields = FieldConditions(transition.fields)
    }

    /// True if the message's data fulfils the conditions on its fields.
    func admits(_ data: JSONValue) -> Bool { fields.hold(for: data) }
}

/// An answer to a guard, with parsed paths.
struct PreparedAnswer {
    private let on: [String]
    private let fields: FieldConditions

    init(_ answer: Flow.Guard.Answer) {
        on = answer.on
        fields = FieldConditions(answer.fields)
    }

    /// True if the message is this answer to some attempt.
    func matches(_ input: Machine.Input) -> Bool { on.contains(input.type) && fields.hold(for: input.data) }
}

/// Conditions on the fields of a message's data, with parsed paths.
private struct FieldConditions {
    private let conditions: [(path: [String], match: Flow.Match)]

    init(_ fields: [String: Flow.Match]) {
        conditions = fields.map { ($0.split(scalar: ".").map(String.init), $1) }
    }

    func hold(for data: JSONValue) -> Bool {
        conditions.allSatisfy { $0.match.holds(for: data.value(at: $0.path)) }
    }
}
