public import Support

extension Flow {
    /// A condition on the state: one of these screens stands in that place, with at least these arguments.
    public struct Condition: Hashable, Sendable {
        /// Where to look.
        public enum Place: String, Hashable, Sendable, CaseIterable {
            /// The root.
            case root
            /// In front of all others.
            case top
            /// Anywhere on the path that presentations lie on: the root's, or the selected tab's.
            case path
            /// Anywhere among what is presented.
            case presented
            /// In front on any layer, or in a column: to be seen, or just beneath a presentation.
            case shown
            /// The selected tab of the root; what is looked for are tabs' names.
            case tab
        }

        /// Where to look.
        public let place: Place
        /// What to look for: any of these; none of them means that the place is empty (`path` and `presented` only).
        ///
        /// Of a screen's arguments those count that are named here. They may be templates; one that cannot be filled in
        /// is no argument of any screen.
        public let screens: [Destination]

        /// Looks for `screens` in `place`.
        public init(_ place: Place, _ screens: [Destination]) {
            self.place = place
            self.screens = screens
        }

        /// The root is one of these screens.
        public static func root(_ screens: Destination...) -> Condition { Condition(.root, screens) }

        /// The screen in front is one of these.
        public static func top(_ screens: Destination...) -> Condition { Condition(.top, screens) }

        /// One of these screens is on the root's path or the selected tab's; with none named, the path is empty.
        public static func path(_ screens: Destination...) -> Condition { Condition(.path, screens) }

        /// One of these screens is presented; with none named, nothing is.
        public static func presented(_ screens: Destination...) -> Condition { Condition(.presented, screens) }

        /// One of these screens is in front on its layer or in a column.
        public static func shown(_ screens: Destination...) -> Condition { Condition(.shown, screens) }

        /// One of these tabs is selected.
        public static func tab(_ names: String...) -> Condition { Condition(.tab, names.map { .screen($0) }) }

        /// - Parameter filled: Fills in the templates of an argument; nil when that cannot be done.
        func holds(in state: NavigationState, filled: (JSONValue) -> JSONValue? = { $0 }) -> Bool {
            if place == .tab {
                guard let selected = state.root.container?.selectedTab else { return false }
                return screens.contains { $0.screen == selected }
            }
            let standing = place.instances(in: state)
            guard !screens.isEmpty else { return standing.isEmpty }
            return screens.contains { wanted in
                standing.contains { instance in
                    wanted.screen == instance.screen
                        && wanted.arguments.allSatisfy { name, value in
                            instance.arguments[name].map { filled(value) == $0 } ?? false
                        }
                }
            }
        }
    }

    /// What a rule asks of a field of a message's data; everything that is asked must hold.
    ///
    /// A literal asks for that value, a list for any of its elements.
    public struct Match: Hashable, Sendable {
        /// Values of which the field must be one; nil when any will do.
        public let anyOf: [JSONValue]?
        /// Values of which the field may be none; a field that is not there is none of them.
        public let noneOf: [JSONValue]
        /// Whether the field must be there, or must not; null is as good as not there.
        public let exists: Bool?
        /// The least number that the field may be.
        public let atLeast: Double?
        /// The greatest number that the field may be.
        public let atMost: Double?

        /// Asks for all of this.
        public init(
            anyOf: [JSONValue]? = nil,
            noneOf: [JSONValue] = [],
            exists: Bool? = nil,
            atLeast: Double? = nil,
            atMost: Double? = nil
        ) {
            self.anyOf = anyOf
            self.noneOf = noneOf
            self.exists = exists
            self.atLeast = atLeast
            self.atMost = atMost
        }

        /// The field is this value.
        public static func value(_ value: JSONValue) -> Match { Match(anyOf: [value]) }

        /// The field is one of these values.
        public static func any(of values: JSONValue...) -> Match { Match(anyOf: values) }

        /// The field is none of these values.
        public static func not(_ values: JSONValue...) -> Match { Match(noneOf: values) }

        /// The field is there, or is not.
        public static func exists(_ exists: Bool) -> Match { Match(exists: exists) }

        /// The field is a number, this or a greater one.
        public static func atLeast(_ number: Double) -> Match { Match(atLeast: number) }

        /// The field is a number, this or a smaller one.
        public static func atMost(_ number: Double) -> Match { Match(atMost: number) }

        package func holds(for value: JSONValue?) -> Bool {
            if let exists, exists != (value.map { !$0.isNull } ?? false) { return false }
            if let anyOf, !(value.map(anyOf.contains) ?? false) { return false }
            if let value, noneOf.contains(value) { return false }
            guard atLeast != nil || atMost != nil else { return true }
            guard let number = value?.numberValue else { return false }
            return (atLeast ?? number) <= number && number <= (atMost ?? number)
        }
    }
}

extension Flow.Condition.Place {
    fileprivate func instances(in state: NavigationState) -> [ScreenInstance] {
        switch self {
        case .root: [state.root.instance]
        case .top: [state.top]
        case .path: state[state.bottomPlace]
        case .presented: state.presentations.map(\.instance)
        case .shown: state.shown
        case .tab: []
        }
    }
}

extension Flow.Match: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral
{
    /// The field is this string.
    public init(stringLiteral value: String) { self = .value(.string(value)) }

    /// The field is this whole number.
    public init(integerLiteral value: Int) { self = .value(.integer(value)) }

    /// The field is this number.
    public init(floatLiteral value: Double) { self = .value(.number(value)) }

    /// The field is this truth value.
    public init(booleanLiteral value: Bool) { self = .value(.bool(value)) }

    /// The field is one of these values.
    public init(arrayLiteral values: JSONValue...) { self.init(anyOf: values) }
}

extension Flow.Match {
    /// A value, a list of values, or `{not, exists, atLeast, atMost}`.
    var json: JSONValue {
        if noneOf.isEmpty, exists == nil, atLeast == nil, atMost == nil { return Self.json(anyOf ?? []) }
        return .object(
            members: [
                ("anyOf", anyOf.map(Self.json)),
                ("not", noneOf.isEmpty ? nil : Self.json(noneOf)),
                ("exists", exists.map { .bool($0) }),
                ("atLeast", atLeast.map { .number($0) }),
                ("atMost", atMost.map { .number($0) }),
            ])
    }

    private static func json(_ values: [JSONValue]) -> JSONValue {
        // What is itself a list or a mapping would be taken for one of values or of questions.
        if values.count == 1, values[0].arrayValue == nil, values[0].objectValue == nil { return values[0] }
        return .array(values)
    }
}
