extension Flow {
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
}

extension [Flow.Part] {
    var screens: [Flow.Screen] { compactMap { part in if case .screen(let screen) = part { screen } else { nil } } }

    var transitions: [Flow.Transition] {
        compactMap { part in if case .transition(let rule) = part { rule } else { nil } }
    }
}
