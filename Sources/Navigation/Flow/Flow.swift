public import Support

/// What an app's screens are on one platform, and how messages lead from one to another.
///
/// A flow is a value, checked when it is made: all screens that it names exist, all templates can be read. It comes
/// from YAML (`init(yaml:file:)`) or from a result builder (`init(_:version:platform:start:content:)`).
public struct Flow: Hashable, Sendable {
    /// The flow's name.
    public let name: String
    /// The version that its authors gave it, raised when a snapshot of the former one may no longer fit.
    public let version: Int
    /// The platform that it is for, such as `ios`; views of that platform send it as their messages' attribute.
    public let platform: String
    /// The screen that a session begins with.
    public let start: String
    /// The screens, by name.
    public let screens: [String: Screen]
    /// The styles of presentation that the platform has, where the flow says so; nil leaves it to what is known of the
    /// platform.
    public let presentations: [PresentationStyle]?
    /// The actions that views may ask for, instead of sending messages that the rules answer.
    public let requests: [ActionName]
    /// The events and errors that no rule has to answer, sorted: their services tell them to others. A review against
    /// the app's contract passes these over.
    public let ignores: [String]
    /// The child flows, by name.
    public let flows: [String: Child]
    /// The rules, in the order in which they are tried: the first that matches a message is the one that applies.
    ///
    /// One rule per message keeps a step explicable: what happened is what one entry of the file says. Order as
    /// precedence is what route tables, firewalls and XState's guarded transitions have taught readers to expect.
    public let transitions: [Transition]
    /// The deep links, in the order in which they are tried.
    public let links: [Link]
    /// A hash of all of this, 16 hexadecimal digits; two flows that differ in anything have different ones.
    public private(set) var hash = ""

    package init(
        name: String,
        version: Int,
        platform: String,
        start: String,
        screens: [Screen],
        presentations: [PresentationStyle]? = nil,
        requests: [ActionName] = [],
        ignores: [String] = [],
        flows: [Child] = [],
        transitions: [Transition],
        links: [Link] = []
    ) {
        self.name = name
        self.version = version
        self.platform = platform
        self.start = start
        self.screens = Dictionary(screens.map { ($0.name, $0) }) { first, _ in first }
        self.presentations = presentations.map { chosen in PresentationStyle.allCases.filter(chosen.contains) }
        self.requests = ActionName.allCases.filter(requests.contains)
        self.ignores = Set(ignores).sorted()
        self.flows = Dictionary(flows.map { ($0.name, $0) }) { first, _ in first }
        self.transitions = transitions
        self.links = links
        var hash = FNV1a()
        hash.combine(json.description)
        self.hash = hash.hexadecimal
    }

    /// The flow's name, version and hash, as snapshots carry them.
    public var identity: FlowIdentity {
        FlowIdentity(name: name, version: version, hash: hash)
    }

    /// The types of the messages that a machine of this flow must hear: those of its rules and deep links, the views'
    /// reports and their requests.
    public var messageTypes: Set<String> {
        Set(allTransitions.flatMap(\.messageTypes)).subtracting(Ending.allCases.map(\.rawValue))
            .union(ViewReport.allCases.map(\.rawValue)).union([Self.requestType])
            .union(links.isEmpty ? [] : [Machine.deepLinkReceived])
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
    ///   - name: The flow's name.
    ///   - version: Its version, raised when a snapshot of the former one may no longer fit.
    ///   - platform: The platform that it is for.
    ///   - start: The screen that a session begins with.
    ///   - presentations: The styles of presentation that the platform has; nil leaves it to what is known of it.
    ///   - requests: The actions that views may ask for.
    ///   - ignores: The events and errors that no rule has to answer.
    ///   - content: Its screens, rules, child flows and deep links.
    /// - Throws: ``FlowError`` with everything that is wrong.
    public init(
        _ name: String,
        version: Int,
        platform: String,
        start: String,
        presentations: [PresentationStyle]? = nil,
        requests: [ActionName] = [],
        ignores: [String] = [],
        @Builder content: () -> [Part]
    ) throws(FlowError) {
        let content = content()
        let trees = content.compactMap { part in if case .step(let step) = part { step } else { nil } }
        let parts = content + Flow.parts(of: trees)
        let screens = parts.screens
        let flows = parts.compactMap { part in if case .flow(let flow) = part { flow } else { nil } }
        let links = parts.compactMap { part in if case .link(let link) = part { link } else { nil } }
        self.init(
            name: name,
            version: version,
            platform: platform,
            start: start,
            screens: screens,
            presentations: presentations,
            requests: requests,
            ignores: ignores,
            flows: flows,
            transitions: parts.transitions,
            links: links
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

    /// A screen, a rule, a tree of steps, a child flow or a deep link.
    public enum Part: Hashable, Sendable {
        /// A screen.
        case screen(Screen)
        /// A rule.
        case transition(Transition)
        /// A screen with what follows it.
        case step(Step)
        /// A child flow.
        case flow(Child)
        /// A deep link.
        case link(Link)
    }

    /// Collects a flow's screens, rules, steps, child flows and deep links.
    @resultBuilder
    public enum Builder {
        /// Takes a screen.
        public static func buildExpression(_ screen: Screen) -> [Part] { [.screen(screen)] }

        /// Takes a rule.
        public static func buildExpression(_ transition: Transition) -> [Part] { [.transition(transition)] }

        /// Takes a tree of steps.
        public static func buildExpression(_ step: Step) -> [Part] { [.step(step)] }

        /// Takes a child flow.
        public static func buildExpression(_ flow: Child) -> [Part] { [.flow(flow)] }

        /// Takes a deep link.
        public static func buildExpression(_ link: Link) -> [Part] { [.link(link)] }

        /// Takes parts that were made elsewhere, so that flows of several platforms can share them.
        public static func buildExpression(_ parts: [Part]) -> [Part] { parts }

        /// Joins the parts.
        public static func buildBlock(_ parts: [Part]...) -> [Part] { parts.flatMap(\.self) }

        /// Joins what a loop made.
        public static func buildArray(_ parts: [[Part]]) -> [Part] { parts.flatMap(\.self) }

        /// Takes what an `if` without `else` made.
        public static func buildOptional(_ parts: [Part]?) -> [Part] { parts ?? [] }

        /// Takes what an `if` made.
        public static func buildEither(first parts: [Part]) -> [Part] { parts }

        /// Takes what an `else` made.
        public static func buildEither(second parts: [Part]) -> [Part] { parts }
    }

    /// A screen of a flow.
    public struct Screen: Hashable, Sendable {
        /// The name, unique in the flow.
        public let name: String
        /// What a view may show as its title.
        public let title: String?
        /// The types of the commands that it may send, sorted.
        public let sends: [String]
        /// Whether deep links wait while it stands, because the user has to pass it first.
        public let gate: Bool

        /// Declares a screen.
        public init(_ name: String, title: String? = nil, sends: [String] = [], gate: Bool = false) {
            self.name = name
            self.title = title
            self.sends = Set(sends).sorted()
            self.gate = gate
        }
    }

    /// A rule: on a message, if its fields and the state match, take these actions as one step.
    public struct Transition: Hashable, Sendable {
        /// The type of the message, such as `event.LaunchFinished`.
        public let on: String
        /// What fields of the message's data must be, by dotted path.
        public let fields: [String: Match]
        /// Conditions on the state that must all hold.
        public let when: [Condition]
        /// Conditions on the state of which none may hold.
        public let unless: [Condition]
        /// Whose messages it answers.
        public let origin: Origin
        /// What has to be answered before it does anything.
        public let `guard`: Guard?
        /// What it does, in order. Either all of it happens or, when an action cannot be taken, none.
        public let actions: [Action]
        /// What attempts know a guarded rule by; other rules have no name.
        private(set) var name: String?

        /// Declares a rule.
        public init(
            on: String,
            where fields: [String: Match] = [:],
            when: [Condition] = [],
            unless: [Condition] = [],
            origin: Origin = .any,
            guard condition: Guard? = nil,
            do actions: [Action]
        ) {
            self.on = on
            self.fields = fields
            self.when = when.sorted { $0.place.rawValue < $1.place.rawValue }
            self.unless = unless.sorted { $0.place.rawValue < $1.place.rawValue }
            self.origin = origin
            self.actions = actions
            self.guard = condition
            name = condition?.name(ofRule: json)
        }
    }

    /// Whose messages a rule answers.
    public enum Origin: String, Hashable, Sendable, CaseIterable {
        /// Everyone's: all platforms of a session follow its events.
        case any
        /// Those of the flow's own platform, and those of no platform at all, which a service or a tool sent.
        case own
    }

    /// A flow within a flow, such as a log-in: it has rules of its own, and whoever begins it learns how it ended.
    public struct Child: Hashable, Sendable {
        /// The name, unique in the flow.
        public let name: String
        /// The screen that each run begins with.
        public let start: String
        /// The rules, which are tried before those of whoever began the run.
        public let transitions: [Transition]

        /// Declares a child flow.
        public init(_ name: String, start: String, transitions: [Transition]) {
            self.name = name
            self.start = start
            self.transitions = transitions
        }
    }

    /// How a run of a child flow ended. Those who began it hear of it as of any message, and it never leaves the machine.
    package enum Ending: String, CaseIterable {
        /// It finished; `data` holds `flow`, `run` and `result`.
        case finished = "flow.finished"
        /// Its first screen is gone, whoever took it away; `data` holds `flow` and `run`.
        case abandoned = "flow.abandoned"
    }

    /// All rules, those of child flows too.
    public var allTransitions: [Transition] {
        transitions + flows.values.sorted { $0.name < $1.name }.flatMap(\.transitions)
    }

    /// The screens and rules that trees of steps stand for, in the order of the trees.
    package static func parts(of trees: [Step]) -> [Part] {
        let steps = steps(of: trees, at: "").map(\.step)
        return steps.map { .screen($0.declaration) } + steps.flatMap { $0.rules.map { .transition($0) } }
    }

    /// All steps of the trees with their places, but those that stand there again only once.
    package static func steps(of trees: [Step], at list: String) -> [(place: String, step: Step)] {
        var known = Set<Step>()
        return trees.enumerated().flatMap { $1.placed(at: "\(list)[\($0)]") }.filter { known.insert($0.step).inserted }
    }

    /// The rules that wait for answers, also those of child flows.
    public var guardedRules: [Transition] { allTransitions.filter { $0.guard != nil } }

    /// The guarded rule that an attempt names.
    func rule(of attempt: PendingGuard, in state: NavigationState) -> Transition? {
        candidates(of: attempt, in: state).first { $0.guard != nil && $0.name == attempt.rule }
    }

    /// The rules that put the same question on the same occasion as an attempt's, in their order and with that one: the
    /// answer decides between them.
    func rules(of attempt: PendingGuard, in state: NavigationState) -> [Transition] {
        guard let rule = rule(of: attempt, in: state) else { return [] }
        return candidates(of: attempt, in: state).filter { $0.asks(like: rule) }
    }

    /// Several child flows may ask the same: an attempt's rules are of the flow of its run.
    private func candidates(of attempt: PendingGuard, in state: NavigationState) -> [Transition] {
        guard let run = attempt.run else { return transitions }
        return state.run(run).flatMap { flows[$0.flow]?.transitions } ?? []
    }

    /// The flow in the form of its YAML file; YAML holds JSON, so reading this text gives an equal flow.
    ///
    /// The flow's hash covers it, so everything that a flow says must stand here, and what says nothing must not.
    public var json: JSONValue {
        .object(
            members: [
                ("name", .string(name)),
                ("version", .integer(version)),
                ("platform", .string(platform)),
                ("start", .string(start)),
                ("screens", .object(screens.mapValues(\.json))),
                ("presentations", presentations.map { .array($0.map { .string($0.rawValue) }) }),
                ("requests", requests.isEmpty ? nil : .array(requests.map { .string($0.rawValue) })),
                ("ignores", ignores.isEmpty ? nil : .array(ignores.map { .string($0) })),
                ("flows", flows.isEmpty ? nil : .object(flows.mapValues(\.json))),
                ("transitions", .array(transitions.map(\.json))),
                ("links", links.isEmpty ? nil : .array(links.map(\.json))),
            ])
    }
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
    /// All that the rule may do, whatever the answer to its guard; the question is a command among them.
    public var possibleActions: [Flow.Action] {
        let question = `guard`?.ask.map { [Flow.Action.send($0.type, data: $0.data)] } ?? []
        return question + actions + (`guard`?.rejected ?? []) + (`guard`?.expired ?? [])
    }

    fileprivate func asks(like other: Flow.Transition) -> Bool {
        guard let condition = `guard`, let otherCondition = other.guard else { return false }
        return on == other.on && fields == other.fields && when == other.when && unless == other.unless
            && origin == other.origin && condition.ask == otherCondition.ask
    }

    /// The types of the messages that the rule has to hear.
    var messageTypes: [String] {
        guard let condition = `guard` else { return [on] }
        return [on, condition.accept.on, Machine.deadlinePassed] + (condition.reject.map { [$0.on] } ?? [])
    }
}

extension Flow {
    /// The message with which a view asks for an action.
    static let requestType = "command.NavigationRequested"

    /// Reads an action that a view asks for: what a rule's `do` may list, as JSON.
    ///
    /// - Throws: ``NavigationFailure`` that says what is wrong with it, or that the flow does not allow it.
    func requestedAction(_ json: JSONValue) throws(NavigationFailure) -> Action {
        var reader = FlowReader(file: "request")
        let action = reader.action(FlowNode(json), at: "action")
        guard let action, reader.findings.isEmpty else { throw .unreadable(reader.findings.map(\.message)) }
        guard requests.contains(action.name) else { throw .notRequestable(action.name, among: requests) }
        var checker = FlowChecker(flow: self, isRequest: true)
        checker.check(action, at: "action")
        guard checker.problems.isEmpty else { throw .unreadable(checker.problems.map(\.message)) }
        return action
    }
}
