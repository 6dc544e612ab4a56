public import Support

/// An app's screens on one platform, and the rules by which messages lead from one screen to another.
///
/// A flow is created from YAML (`init(yaml:file:)`) or with a result builder
/// (`init(_:version:platform:start:presentations:requests:ignores:commands:content:)`). Both initializers check it.
public struct Flow: Hashable, Sendable {
    /// What the flow declares, prepared for machines.
    let program: FlowProgram

    public var name: String { program.declaration.name }
    /// The version that its authors set.
    public var version: Int { program.declaration.version }
    /// The platform that the flow is for, such as `ios`.
    public var platform: String { program.declaration.platform }
    /// The name of the screen that a session begins with.
    public var start: String { program.declaration.start }
    /// The screens, by name.
    public var screens: [String: Screen] { program.declaration.screens }
    /// The presentation styles that the platform has. Nil if the flow does not list them; then the checker uses its own
    /// list for the platform.
    public var presentations: [PresentationStyle]? { program.declaration.presentations }
    /// The actions that views may request with `command.NavigationRequested`.
    public var requests: [ActionName] { program.declaration.requests }
    /// The events and errors that no rule has to answer, sorted. A review does not note that they lack a rule.
    public var ignores: [String] { program.declaration.ignores }
    /// The statements about all states that `segue flow explore` proves.
    public var properties: [Property] { program.declaration.properties }
    /// The fields of commands that only the flow receives, by the command's type. A coordinator publishes them in its
    /// contract, so that programs can check these commands before they send them.
    public var commands: [String: [String: JSONSchema.Property]] { program.declaration.commands }
    /// The child flows, by name.
    public var flows: [String: Child] { program.declaration.flows }
    /// The rules of the flow itself, in the order in which they are tried. The first rule that matches a message
    /// applies. Among rules with a guard that have the same conditions and question, the answer decides which one
    /// applies.
    public var transitions: [Transition] { program.declaration.transitions }
    /// The deep links, in the order in which they are tried.
    public var links: [Link] { program.declaration.links }
    /// The maximum number of rules and links in a flow, with those of its child flows. A flow with more is refused.
    package static let ruleLimit = 10_000

    /// The number of rules and links, with those of the child flows. A rule on several types counts once for each.
    package var ruleCount: Int { allTransitions.reduce(links.count) { $0 + max($1.on.count, 1) } }

    /// The names of the screens from which the user cannot go back.
    package var screensWithoutBack: Set<String> { program.screensWithoutBack }
    /// The acts of the user that rules answer.
    package var acts: Set<UserAct> { program.acts }
    /// The types of the messages that a machine of this flow must receive: those of its rules and guards,
    /// `event.GuardDeadlinePassed` if it has guards or rules that wait, views' reports and requests, and
    /// `event.DeepLinkReceived` if it has links.
    public var messageTypes: Set<String> { program.messageTypes }

    /// A 64-bit hash of ``json``, 16 hexadecimal digits.
    public var hash: String { program.hash }

    package init(
        name: String,
        version: Int,
        platform: String,
        start: String,
        screens: [Screen],
        presentations: [PresentationStyle]? = nil,
        requests: [ActionName] = [],
        ignores: [String] = [],
        commands: [String: [String: JSONSchema.Property]] = [:],
        flows: [Child] = [],
        transitions: [Transition],
        links: [Link] = [],
        properties: [Property] = []
    ) {
        let declaration = FlowDeclaration(
            name: name,
            version: version,
            platform: platform,
            start: start,
            screens: Dictionary(screens.map { ($0.name, $0) }) { first, _ in first },
            presentations: presentations.map { chosen in PresentationStyle.allCases.filter(chosen.contains) },
            requests: ActionName.allCases.filter(requests.contains),
            ignores: Set(ignores).sorted(),
            commands: commands,
            flows: Dictionary(flows.map { ($0.name, $0) }) { first, _ in first },
            transitions: transitions,
            links: links,
            properties: properties)
        program = FlowProgram(declaration)
    }

    init(program: FlowProgram) {
        self.program = program
    }

    /// Compares what the flows declare.
    public static func == (left: Flow, right: Flow) -> Bool {
        left.program === right.program || left.program.declaration == right.program.declaration
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    /// The flow's name, version and hash, as in snapshots.
    public var identity: FlowIdentity {
        FlowIdentity(name: name, version: version, hash: hash)
    }

    /// Builds and checks a flow.
    ///
    ///     let flow = try Flow("shop", version: 1, platform: "ios", start: "list") {
    ///         Flow.Screen("list", sends: ["command.ItemSelected"])
    ///         Flow.Screen("item")
    ///         Flow.Transition(
    ///             on: "command.ItemSelected",
    ///             do: [.push(.screen("item", ["itemID": "${data.itemID}"]))]
    ///         )
    ///     }
    ///
    /// - Parameters:
    ///   - version: The version, which the flow's authors set.
    ///   - platform: The platform that the flow is for, such as `ios`.
    ///   - start: The name of the screen that a session begins with.
    ///   - presentations: The presentation styles that the platform has. Nil to use the checker's list.
    ///   - requests: The actions that views may request.
    ///   - ignores: The events and errors that no rule has to answer.
    ///   - commands: The fields of commands that only the flow receives, by the command's type.
    ///   - content: The screens, rules, steps, child flows, deep links and properties.
    /// - Throws: ``FlowError`` if the flow has a mistake.
    public init(
        _ name: String,
        version: Int,
        platform: String,
        start: String,
        presentations: [PresentationStyle]? = nil,
        requests: [ActionName] = [],
        ignores: [String] = [],
        commands: [String: [String: JSONSchema.Property]] = [:],
        @Builder content: () -> [Part]
    ) throws(FlowError) {
        let content = content()
        let trees = content.compactMap { part in if case .step(let step) = part { step } else { nil } }
        let parts = content + Flow.parts(of: trees)
        let screens = parts.screens
        let flows = parts.compactMap { part in if case .flow(let flow) = part { flow } else { nil } }
        let links = parts.compactMap { part in if case .link(let link) = part { link } else { nil } }
        let properties = parts.compactMap { part in if case .property(let property) = part { property } else { nil } }
        self.init(
            name: name,
            version: version,
            platform: platform,
            start: start,
            screens: screens,
            presentations: presentations,
            requests: requests,
            ignores: ignores,
            commands: commands,
            flows: flows,
            transitions: parts.transitions,
            links: links,
            properties: properties
        )
        var checker = FlowChecker(flow: self)
        checker.checkUniqueness(of: screens)
        checker.checkUniqueness(of: flows)
        checker.check(trees)
        checker.check()
        guard checker.problems.isEmpty else {
            throw FlowError(findings: checker.problems.map { FlowFinding(source: "flow \(name)", problem: $0) })
        }
    }

    /// One part of a flow's builder: a screen, a rule, a tree of steps, a child flow, a deep link or a property.
    public enum Part: Hashable, Sendable {
        case screen(Screen)
        case transition(Transition)
        /// A screen with the steps that follow it.
        case step(Step)
        case flow(Child)
        case link(Link)
        case property(Property)
    }

    /// Collects a flow's screens, rules, steps, child flows and deep links.
    @resultBuilder
    public enum Builder {
        public static func buildExpression(_ screen: Screen) -> [Part] { [.screen(screen)] }

        public static func buildExpression(_ transition: Transition) -> [Part] { [.transition(transition)] }

        public static func buildExpression(_ step: Step) -> [Part] { [.step(step)] }

        public static func buildExpression(_ flow: Child) -> [Part] { [.flow(flow)] }

        public static func buildExpression(_ link: Link) -> [Part] { [.link(link)] }

        public static func buildExpression(_ property: Property) -> [Part] { [.property(property)] }

        /// Adds parts that were built elsewhere.
        public static func buildExpression(_ parts: [Part]) -> [Part] { parts }

        public static func buildBlock(_ parts: [Part]...) -> [Part] { parts.flatMap(\.self) }

        public static func buildArray(_ parts: [[Part]]) -> [Part] { parts.flatMap(\.self) }

        public static func buildOptional(_ parts: [Part]?) -> [Part] { parts ?? [] }

        public static func buildEither(first parts: [Part]) -> [Part] { parts }

        public static func buildEither(second parts: [Part]) -> [Part] { parts }
    }

    /// A screen of a flow.
    public struct Screen: Hashable, Sendable {
        /// The name, unique in the flow.
        public let name: String
        /// The title that a view may show. Nil if the flow sets none.
        public let title: String?
        /// The types of the commands that the screen may send, sorted.
        public let sends: [String]
        /// The arguments of the screen's instances, by name. Nil if the flow does not declare them; then an instance may
        /// have any arguments.
        public let arguments: [String: JSONSchema.Property]?
        /// True if a deep link is not followed while this screen is open, unless the link's target is open already.
        public let gate: Bool
        /// True if `push` and `present` do nothing while an instance with the same arguments is on top of the stack, or
        /// presented in front.
        public let once: Bool
        /// False if the user cannot go back from the screen. Rules can.
        public let back: Bool

        public init(
            _ name: String,
            title: String? = nil,
            sends: [String] = [],
            arguments: [String: JSONSchema.Property]? = nil,
            gate: Bool = false,
            once: Bool = false,
            back: Bool = true
        ) {
            self.name = name
            self.title = title
            self.sends = Set(sends).sorted()
            self.arguments = arguments
            self.gate = gate
            self.once = once
            self.back = back
        }
    }

    /// A rule: the types of the messages that it answers, the conditions, and the actions that the machine takes as one
    /// step.
    public struct Transition: Hashable, Sendable {
        /// The types of the messages, such as `event.LaunchFinished`, sorted. Empty for a rule that waits (``after``).
        public let on: [String]
        /// Conditions on the fields of the message's data, by dotted path.
        public let fields: [String: Match]
        /// Conditions on the state, all of which must hold.
        public let when: [Condition]
        /// Conditions on the state, none of which may hold.
        public let unless: [Condition]
        /// The senders whose messages the rule answers.
        public let origin: Origin
        /// A question that must be answered before the actions are taken. Nil for a rule that applies at once.
        public let `guard`: Guard?
        /// The actions, in order. If one of them cannot be taken, none is.
        public let actions: [Action]
        /// The place where the rule is written.
        public let location: RuleLocation
        /// The time for which the conditions must hold without interruption before the actions are taken. Nil for a
        /// rule that answers a message.
        public let after: Duration?
        /// The name by which a ``PendingGuard`` or a ``PendingWait`` refers to the rule. Nil for a rule without a guard
        /// that answers a message.
        package private(set) var name: String?

        public init(
            on type: String,
            where fields: [String: Match] = [:],
            when: [Condition] = [],
            unless: [Condition] = [],
            origin: Origin = .any,
            guard condition: Guard? = nil,
            do actions: [Action],
            file: String = #fileID,
            line: Int = #line
        ) {
            self.init(
                on: [type], where: fields, when: when, unless: unless, origin: origin, guard: condition, do: actions,
                file: file, line: line)
        }

        /// A rule that answers messages of several types.
        public init(
            on types: [String],
            where fields: [String: Match] = [:],
            when: [Condition] = [],
            unless: [Condition] = [],
            origin: Origin = .any,
            guard condition: Guard? = nil,
            do actions: [Action],
            file: String = #fileID,
            line: Int = #line
        ) {
            on = Set(types).sorted()
            self.fields = fields
            self.when = when.sorted { $0.scope.rawValue < $1.scope.rawValue }
            self.unless = unless.sorted { $0.scope.rawValue < $1.scope.rawValue }
            self.origin = origin
            self.actions = actions
            self.guard = condition
            after = nil
            location = RuleLocation(file: file, line: line)
            name = condition?.name(ofRule: json)
        }

        /// A rule that waits instead of answering a message: when its conditions have held for a time without
        /// interruption, its actions are taken once.
        public init(
            after time: Duration,
            when: [Condition] = [],
            unless: [Condition] = [],
            do actions: [Action],
            file: String = #fileID,
            line: Int = #line
        ) {
            on = []
            fields = [:]
            self.when = when.sorted { $0.scope.rawValue < $1.scope.rawValue }
            self.unless = unless.sorted { $0.scope.rawValue < $1.scope.rawValue }
            origin = .any
            self.actions = actions
            self.guard = nil
            after = time
            location = RuleLocation(file: file, line: line)
            name = waitName
        }
    }

    /// The senders whose messages a rule answers.
    public enum Origin: String, Hashable, Sendable, CaseIterable {
        /// All senders, on any platform.
        case any
        /// Senders of the flow's own platform, and senders without a platform, such as services and tools.
        case own
    }

    /// A flow within a flow, such as a log-in. It has its own rules, and the flow that begins it receives its result.
    public struct Child: Hashable, Sendable {
        /// The name, unique in the flow.
        public let name: String
        /// The name of the first screen.
        public let start: String
        /// The rules. While the child flow runs, they are tried before the rules of the flow itself. A command from a
        /// screen outside of the child flow is not matched with them.
        public let transitions: [Transition]

        public init(_ name: String, start: String, transitions: [Transition]) {
            self.name = name
            self.start = start
            self.transitions = transitions
        }
    }

    /// The way in which a run of a child flow ended. The rules of the flow that began the run, and then those of the
    /// flows around it, match it like a message type; no such message is published.
    package enum Ending: String, CaseIterable {
        /// The run finished. `data` holds `flow`, `run` and `result`.
        case finished = "flow.finished"
        /// The run was abandoned: by the action `abandon`, or because its first screen is no longer open. `data` holds
        /// `flow` and `run`.
        case abandoned = "flow.abandoned"
    }

    /// All rules, including those of child flows.
    public var allTransitions: [Transition] {
        transitions + flows.values.sorted { $0.name < $1.name }.flatMap(\.transitions)
    }

    /// The place of a rule in the flow: `transitions[3]`, or `flows.login.transitions[3]` in the child flow `login`.
    package static func keyPath(ofRule index: Int, in child: String?) -> String {
        "\(child.map { "flows.\($0)." } ?? "")transitions[\(index)]"
    }

    /// The place of a link in the flow: `links[1]`.
    package static func keyPath(ofLink index: Int) -> String { "links[\(index)]" }

    /// The place of the first rule or link that presents this alert or dialog with these buttons. Nil if there is none,
    /// such as after a change of the flow.
    func keyPath(presenting screen: String, with buttons: [AlertButton]) -> String? {
        let ids = buttons.map(\.id)
        func presents(_ action: Action) -> Bool {
            guard case .present(let destination, as: _, options: let options) = action.unconditional else {
                return false
            }
            return destination.screen == screen && options.buttons?.map(\.id) == ids
        }
        for (child, rules) in [(nil, transitions)] + flows.sorted(by: { $0.key < $1.key }).map({ ($0, $1.transitions) })
        {
            let index = rules.firstIndex { $0.possibleActions.contains(where: presents) }
            if let index { return Self.keyPath(ofRule: index, in: child) }
        }
        let link = links.firstIndex { link in
            [link.to?.present, link.otherwise?.present].contains {
                $0?.destination.screen == screen && $0?.options.buttons?.map(\.id) == ids
            }
        }
        return link.map(Self.keyPath(ofLink:))
    }

    /// The rules with a guard, including those of child flows.
    public var guardedRules: [Transition] { allTransitions.filter { $0.guard != nil } }

    /// The rule that began this attempt. Nil if the flow no longer has the rule, or if the attempt's run is not in the
    /// state.
    func rule(of attempt: PendingGuard, in state: NavigationState) -> PreparedRule? {
        rules(besides: attempt, in: state).first { $0.transition.guard != nil && $0.transition.name == attempt.rule }
    }

    /// The rules with the same conditions and the same question as the attempt's rule, in order and including that
    /// rule. The answer decides which of them applies. Empty if ``rule(of:in:)`` is nil.
    func rules(of attempt: PendingGuard, in state: NavigationState) -> [PreparedRule] {
        guard let rule = rule(of: attempt, in: state) else { return [] }
        return rules(besides: attempt, in: state).filter { $0.transition.asks(like: rule.transition) }
    }

    /// The rules of the child flow to which the attempt's run belongs, or of the flow itself if the attempt has no run.
    private func rules(besides attempt: PendingGuard, in state: NavigationState) -> [PreparedRule] {
        guard let run = attempt.run else { return program.rules(of: nil).all }
        return state.run(run).map { program.rules(of: $0.flow).all } ?? []
    }

    /// The flow as JSON, in the form of its YAML file.
    ///
    /// ``hash`` is computed from this value without the properties.
    public var json: JSONValue { program.declaration.json }
}

extension [Flow.Part] {
    package var screens: [Flow.Screen] {
        compactMap { part in if case .screen(let screen) = part { screen } else { nil } }
    }

    package var transitions: [Flow.Transition] {
        compactMap { part in if case .transition(let rule) = part { rule } else { nil } }
    }
}

extension Flow.Transition {
    /// All actions that the rule may take, whatever the answer to its guard, without `ifPossible`, and those of the
    /// buttons that it presents. They include sending the guard's question.
    public var possibleActions: [Flow.Action] {
        let question = `guard`?.ask.map { [Flow.Action.send(type: $0.type, data: $0.data)] } ?? []
        return question + (actions + (`guard`?.rejected ?? []) + (`guard`?.expired ?? [])).flatMap(\.withButtons)
    }

    /// True if both rules have the same conditions and ask the same question. The first of such rules that accepts the
    /// answer applies.
    package func asks(like other: Flow.Transition) -> Bool {
        guard let condition = `guard`, let otherCondition = other.guard else { return false }
        return on == other.on && fields == other.fields && when == other.when && unless == other.unless
            && origin == other.origin && condition.ask == otherCondition.ask
    }

    /// The types that the rule answers; for a rule that waits, only `after` with its time, such as `after 3s`.
    package var triggers: [String] { after.map { ["after \($0.text)"] } ?? on }

    /// The types of the messages that a machine must receive for the rule.
    var messageTypes: [String] {
        if after != nil { return [Machine.deadlinePassed] }
        guard let condition = `guard` else { return on }
        return on + condition.accept.on + [Machine.deadlinePassed] + (condition.reject?.on ?? [])
    }
}

extension Flow {
    /// The type of the message with which a view requests an action.
    package static let requestType = "command.NavigationRequested"

    /// Parses an action that a view requests, in the form of an entry in a rule's `do`.
    ///
    /// - Throws: ``NavigationFailure`` if the action is invalid or the flow does not allow it.
    func requestedAction(_ json: JSONValue) throws(NavigationFailure) -> Action {
        var reader = FlowReader(file: "request")
        let action = reader.action(FlowNode(json), at: "action")
        guard let action, reader.findings.isEmpty else { throw .unreadable(reader.findings.map(\.message)) }
        // A view must not take other actions with the buttons of an alert.
        for name in action.withButtons.map(\.name) where !requests.contains(name) {
            throw .notRequestable(name, among: requests)
        }
        var checker = FlowChecker(flow: self, isRequest: true)
        checker.check(action, at: "action")
        guard checker.problems.isEmpty else { throw .unreadable(checker.problems.map(\.message)) }
        return action
    }
}
