internal import Foundation
public import Support

extension Flow {
    /// A condition on the state: one of the listed screens, or of the listed tabs, must be in this scope. For an empty
    /// list see ``screens``.
    public struct Condition: Hashable, Sendable {
        /// The part of the state that a condition examines.
        public enum Scope: String, Hashable, Sendable, CaseIterable {
            case root
            /// The screen in front. If an open screen sent the message, the one in front in the window of that screen.
            /// For a rule of a child flow, the topmost screen of the frontmost stack with a screen of the child flow.
            case top
            /// The front path (see ``Flow/Action``) and the paths beneath it.
            case path
            /// The presented screens, without the screens pushed on them.
            case presented
            /// The topmost screens of the root's stack, of each column, of the selected tab and of each presentation,
            /// even if a presentation covers them.
            case shown
            /// The selected tab of the root. The condition lists names of tabs instead of screens.
            case tab
            /// The open screen that sent the message.
            case sender
        }

        /// The part of the state that is examined.
        public let scope: Scope
        /// The screens. At least one of them must be in the scope. An empty list means that the scope must be empty
        /// (`path`, `presented` and `sender` only).
        ///
        public let screens: [Screen]

        /// A screen, and conditions on the arguments of its instance.
        public struct Screen: Hashable, Sendable, ExpressibleByStringLiteral {
            public let screen: String
            /// The conditions on the arguments, by name. An instance may have other arguments.
            ///
            /// A number or a boolean equals its JSON text: `5` equals `"5"`. Values may be templates; a template that
            /// cannot be filled in matches no instance.
            public let arguments: [String: Match]

            public static func screen(_ name: String, _ arguments: [String: Match] = [:]) -> Screen {
                Screen(screen: name, arguments: arguments)
            }

            /// Requires the arguments that an action passes to the screen.
            public init(_ destination: Destination) {
                self.init(screen: destination.screen, arguments: destination.arguments.mapValues { .value($0) })
            }

            /// Names a screen without conditions on its arguments.
            public init(stringLiteral name: String) {
                self.init(screen: name, arguments: [:])
            }

            init(screen: String, arguments: [String: Match]) {
                self.screen = screen
                self.arguments = arguments
            }
        }

        public init(_ scope: Scope, _ screens: [Screen]) {
            self.scope = scope
            self.screens = screens
        }

        public static func root(_ screens: Screen...) -> Condition { Condition(.root, screens) }

        public static func top(_ screens: Screen...) -> Condition { Condition(.top, screens) }

        /// One of these screens is on the front path or on a path beneath it; without screens, these paths are empty.
        public static func path(_ screens: Screen...) -> Condition { Condition(.path, screens) }

        /// One of these screens is presented; without screens, nothing is presented.
        public static func presented(_ screens: Screen...) -> Condition { Condition(.presented, screens) }

        /// One of these screens is shown; see ``Scope/shown``.
        public static func shown(_ screens: Screen...) -> Condition { Condition(.shown, screens) }

        public static func tab(_ names: String...) -> Condition { Condition(.tab, names.map { .screen($0) }) }

        /// One of these screens sent the message; without screens, no open screen did.
        public static func sender(_ screens: Screen...) -> Condition { Condition(.sender, screens) }

        /// Conditions with their places in a flow: `when.path` is that of the first condition on the path, and
        /// `when[1].path` that of the second.
        ///
        /// - Parameter keyPath: The place of the list, such as `transitions[2].when`.
        package static func placed(
            _ conditions: [Condition], at keyPath: String
        ) -> [(condition: Condition, keyPath: String)] {
            var counts: [Scope: Int] = [:]
            return conditions.map { condition in
                let number = counts[condition.scope, default: 0]
                counts[condition.scope] = number + 1
                return (condition, place(of: condition.scope, number: number, at: keyPath))
            }
        }

        /// The place of the condition with this number among the conditions on a part of the state.
        package static func place(of scope: Scope, number: Int, at keyPath: String) -> String {
            number == 0 ? "\(keyPath).\(scope.rawValue)" : "\(keyPath)[\(number)].\(scope.rawValue)"
        }

        /// True if a state fulfils all conditions in `when`, and none in `unless`.
        ///
        /// - Parameters:
        ///   - focus: The sender of the message, its window, and the run of the rule.
        ///   - filled: Fills in the templates of an argument; returns nil if that is not possible.
        static func hold(
            when: [Condition], unless: [Condition], in state: NavigationState,
            from focus: @autoclosure () -> Focus = Focus(), filled: (JSONValue) -> JSONValue? = { $0 }
        ) -> Bool {
            when.allSatisfy { $0.holds(in: state, from: focus(), filled: filled) }
                && !unless.contains { $0.holds(in: state, from: focus(), filled: filled) }
        }

        /// Checks the condition against a state, as ``hold(when:unless:in:from:filled:)`` does.
        func holds(
            in state: NavigationState, from focus: @autoclosure () -> Focus, filled: (JSONValue) -> JSONValue?
        ) -> Bool {
            func isFulfilled(by instance: ScreenInstance) -> Bool {
                self.isFulfilled(by: instance, filled: filled)
            }
            return switch scope {
            case .tab: state.root.container?.selectedTab.map { tab in screens.contains { $0.screen == tab } } ?? false
            case .root: isFulfilled(by: state.root.instance)
            case .presented where screens.isEmpty: state.presentations.isEmpty
            case .presented: state.presentations.contains { isFulfilled(by: $0.instance) }
            case .shown: state.isShown(where: isFulfilled)
            case .top, .path, .sender:
                if screens.isEmpty {
                    scope.instances(in: state, from: focus()).isEmpty
                } else {
                    scope.instances(in: state, from: focus()).contains(where: isFulfilled)
                }
            }
        }

        /// The open instances that fulfil the condition. Empty if it names no screens.
        func instances(
            in state: NavigationState, from focus: Focus, filled: (JSONValue) -> JSONValue?
        ) -> [ScreenInstance] {
            if scope == .tab { return [] }
            return scope.instances(in: state, from: focus).filter { isFulfilled(by: $0, filled: filled) }
        }

        private func isFulfilled(by instance: ScreenInstance, filled: (JSONValue) -> JSONValue?) -> Bool {
            screens.contains { wanted in
                wanted.screen == instance.screen
                    && wanted.arguments.allSatisfy { name, match in
                        match.holds(forArgument: instance.arguments[name], filled: filled)
                    }
            }
        }
    }

    /// The conditions on a field of a message's data, all of which must hold.
    ///
    /// A literal requires that value; an array literal requires one of its elements.
    public struct Match: Hashable, Sendable {
        /// The allowed values. Nil if any value is allowed.
        public let anyOf: [JSONValue]?
        /// The values that are not allowed. A missing field fulfils this condition.
        public let noneOf: [JSONValue]
        /// True if the field must be present, false if it must be absent, nil if both are allowed. A null field counts
        /// as absent.
        public let exists: Bool?
        /// The minimum of the field's value; a value that is not a number does not match. Nil if there is no minimum.
        public let atLeast: Double?
        /// The maximum of the field's value; a value that is not a number does not match. Nil if there is no maximum.
        public let atMost: Double?

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

        public static func value(_ value: JSONValue) -> Match { Match(anyOf: [value]) }

        public static func any(of values: JSONValue...) -> Match { Match(anyOf: values) }

        public static func not(_ values: JSONValue...) -> Match { Match(noneOf: values) }

        /// The field is present if `exists` is true, and absent if it is false.
        public static func exists(_ exists: Bool) -> Match { Match(exists: exists) }

        /// The field is a number of at least this value.
        public static func atLeast(_ number: Double) -> Match { Match(atLeast: number) }

        /// The field is a number of at most this value.
        public static func atMost(_ number: Double) -> Match { Match(atMost: number) }

        package func holds(for value: JSONValue?) -> Bool {
            if let exists, exists != (value.map { !$0.isNull } ?? false) { return false }
            if let anyOf, !(value.map(anyOf.contains) ?? false) { return false }
            if let value, noneOf.contains(value) { return false }
            return allows(value?.numberValue)
        }

        /// Checks the conditions for an argument of a screen. A number or a boolean equals its JSON text, and is compared
        /// with bounds like it.
        ///
        /// - Parameter filled: Fills in the templates of a value; returns nil if that is not possible.
        package func holds(
            forArgument value: JSONValue?, filled: (JSONValue) -> JSONValue? = { $0 }
        ) -> Bool {
            if let exists, exists != (value.map { !$0.isNull } ?? false) { return false }
            if let anyOf {
                guard let value, anyOf.contains(where: { filled($0).map(value.isSameArgument) ?? false }) else {
                    return false
                }
            }
            for unwanted in noneOf {
                guard let unwanted = filled(unwanted), value?.isSameArgument(as: unwanted) != true else { return false }
            }
            return allows(value?.argumentNumber)
        }

        private func allows(_ number: @autoclosure () -> Double?) -> Bool {
            guard atLeast != nil || atMost != nil else { return true }
            guard let number = number() else { return false }
            return (atLeast ?? number) <= number && number <= (atMost ?? number)
        }

        /// The values that the conditions name.
        package var values: [JSONValue] { (anyOf ?? []) + noneOf }

        /// True if the conditions only list allowed values.
        package var isList: Bool { noneOf.isEmpty && exists == nil && atLeast == nil && atMost == nil }
    }
}

extension Flow.Condition.Scope {
    fileprivate func instances(in state: NavigationState, from focus: Focus) -> [ScreenInstance] {
        switch self {
        case .root: [state.root.instance]
        case .top: [state.top(from: focus)]
        case .path: state.scopesFromFront(from: focus).flatMap { state[$0] }
        case .presented: state.presentations.map(\.instance)
        case .shown: state.shown
        case .tab: []
        case .sender: [focus.sender].compactMap(\.self)
        }
    }
}

extension Flow.Match: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral
{
    public init(stringLiteral value: String) { self = .value(.string(value)) }

    public init(integerLiteral value: Int) { self = .value(.integer(value)) }

    public init(floatLiteral value: Double) { self = .value(.number(value)) }

    public init(booleanLiteral value: Bool) { self = .value(.bool(value)) }

    public init(arrayLiteral values: JSONValue...) { self.init(anyOf: values) }
}

extension Flow.Match {
    /// The conditions as in a flow file: a value, a list of values, or an object of operators.
    var json: JSONValue {
        if isList { return Self.json(anyOf ?? []) }
        return .object(
            members: [
                ("anyOf", anyOf.map(Self.json)),
                ("not", noneOf.isEmpty ? nil : Self.json(noneOf)),
                ("exists", exists.map { .bool($0) }),
                ("atLeast", atLeast.map { .number($0) }),
                ("atMost", atMost.map { .number($0) }),
            ])
    }

    /// The conditions on an argument, as in a flow file: an object that has other keys than operators is a value.
    var argumentJSON: JSONValue {
        guard isList, let anyOf, anyOf.count == 1, case .object(let members) = anyOf[0],
            !Self.areOperators(members.keys)
        else { return json }
        return anyOf[0]
    }

    /// The keys of conditions in a flow file.
    package static let operators = ["anyOf", "not", "exists", "atLeast", "atMost"]

    /// True if a mapping with these keys is a list of conditions on an argument. Otherwise it is a value.
    package static func areOperators(_ keys: some Collection<String>) -> Bool {
        !keys.isEmpty && keys.allSatisfy(operators.contains)
    }

    private static func json(_ values: [JSONValue]) -> JSONValue {
        // A value that is itself an array or an object is wrapped in a list; otherwise it would be read as a list of
        // values or as an object of operators.
        if values.count == 1, values[0].arrayValue == nil, values[0].objectValue == nil { return values[0] }
        return .array(values)
    }
}

extension JSONValue {
    /// The number that an argument is, or that its text writes as JSON does. Nil for other arguments.
    fileprivate var argumentNumber: Double? {
        guard case .string(let text) = self else { return numberValue }
        guard text.utf8.count <= 32, let value = try? JSONValue(parsing: Data(text.utf8)), value.description == text
        else { return nil }
        return value.numberValue
    }
}
