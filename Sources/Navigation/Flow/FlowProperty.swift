internal import Support

extension Flow {
    /// A statement about all states of the flow, which `segue flow explore` proves or disproves. It has no effect when the
    /// flow runs.
    ///
    ///     Flow.Property(.never, [.root("payment"), .presented("menu")])
    ///     Flow.Property(.canReach, [.root("list")], when: [.root("payment")])
    public struct Property: Hashable, Sendable {
        public enum Kind: String, Hashable, Sendable, CaseIterable {
            /// The conditions hold in each state.
            case always
            /// The conditions hold together in no state.
            case never
            /// From each state, messages other than URLs can lead to a state in which the conditions hold.
            case canReach
        }

        public let kind: Kind
        /// The conditions on the state that are stated.
        public let conditions: [Condition]
        /// Conditions on the states about which the property is: all of them hold.
        public let when: [Condition]
        /// Conditions of which none holds in the states about which the property is.
        public let unless: [Condition]

        public init(
            _ kind: Kind, _ conditions: [Condition], when: [Condition] = [], unless: [Condition] = []
        ) {
            (self.kind, self.conditions, self.when, self.unless) = (kind, conditions, when, unless)
        }

        /// True if the property is about this state.
        package func concerns(_ state: NavigationState) -> Bool {
            Condition.hold(when: when, unless: unless, in: state)
        }

        /// True if the stated conditions hold in this state.
        package func holds(in state: NavigationState) -> Bool {
            Condition.hold(when: conditions, unless: [], in: state)
        }

        var json: JSONValue {
            .object(
                members: [
                    ("when", when.isEmpty ? nil : Condition.json(of: when)),
                    ("unless", unless.isEmpty ? nil : Condition.json(of: unless)),
                    (kind.rawValue, Condition.json(of: conditions)),
                ])
        }
    }

    /// The place of a property in the flow.
    package static func keyPath(ofProperty index: Int) -> String { "properties[\(index)]" }
}

extension FlowChecker {
    mutating func checkProperties() {
        for (index, property) in flow.properties.enumerated() {
            let place = Flow.keyPath(ofProperty: index)
            for (key, conditions) in [
                (property.kind.rawValue, property.conditions), ("when", property.when), ("unless", property.unless),
            ] {
                checkConstants(in: conditions, of: "a property", at: "\(place).\(key)")
            }
        }
    }
}
