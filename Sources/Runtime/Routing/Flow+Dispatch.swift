internal import Contracts
internal import EventBus
public import Navigation
internal import Support

extension Flow {
    /// The rules that show dispatched data in the way that its types define:
    ///
    ///     try Flow("stations", version: 1, platform: "ios", start: "search") {
    ///         Flow.Screen("search", sends: ["command.DataDispatched"])
    ///         Flow.Screen("route")
    ///         Flow.Dispatch(RouteModel.self)
    ///     }
    ///
    /// Put all types of a flow into one `Dispatch`. The rule of a pushed screen needs the names of all modal screens
    /// without a stack, because it dismisses such a screen first.
    public struct Dispatch: Sendable {
        /// The rules, in the order of the types.
        public let transitions: [Transition]

        public init(_ types: any Dispatchable.Type..., file: String = #fileID, line: Int = #line) {
            let withoutStack = types.compactMap { $0.change.screenWithoutStack }
            let location = RuleLocation(file: file, line: line)
            transitions = types.flatMap { $0.transitions(givingWay: withoutStack, at: location) }
        }
    }
}

extension Flow.Builder {
    /// Adds the rules that show dispatched data.
    public static func buildExpression(_ dispatch: Flow.Dispatch) -> [Flow.Part] {
        dispatch.transitions.map { .transition($0) }
    }
}

extension Dispatchable {
    fileprivate static func transitions(
        givingWay screens: [Flow.Condition.Screen], at location: RuleLocation
    ) -> [Flow.Transition] {
        let arguments = change.identifiers.map { ($0, JSONValue.string("${data.data.\($0)}")) }
        let destination = Flow.Destination.screen(change.screen, Dictionary(arguments) { first, _ in first })
        switch change.style {
        case .modal(let style, let options, _):
            return [transition([.present(destination, as: style, options: options)], at: location)]
        case .pushed:
            let rule = transition([.push(destination)], at: location)
            guard !screens.isEmpty else { return [rule] }
            let givingWay = transition(
                [.dismiss(nil), .push(destination)], when: [Flow.Condition(.top, screens)], at: location)
            return [givingWay, rule]
        }
    }

    /// The rule does not apply to commands from another platform, so that data from a view is shown only on the
    /// platform of this view.
    private static func transition(
        _ actions: [Flow.Action], when conditions: [Flow.Condition] = [], at location: RuleLocation
    ) -> Flow.Transition {
        Flow.Transition(
            on: Command.DataDispatched.type.description, where: ["name": .value(.string(dispatchName))],
            when: conditions, origin: .own, do: actions, file: location.file, line: location.line)
    }
}

extension DispatchChange {
    fileprivate var screenWithoutStack: Flow.Condition.Screen? {
        guard case .modal(_, _, inStack: false) = style else { return nil }
        return .screen(screen)
    }
}
