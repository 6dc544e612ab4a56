internal import FlowReview
internal import Navigation
internal import Support

/// What views and deadlines of one platform can cause in the states of its flow.
struct PlatformOccurrences {
    /// The type that the app sends when it is launched.
    static let launch = "event.LaunchFinished"

    /// The types of the messages with which sessions begin.
    static let beginnings: Set<String> = [launch, Machine.deepLinkReceived]

    private let flow: Flow
    /// Launches, URLs, and commands that no screen sends.
    private let senderless: [Occurrence]
    /// The patterns of the links of which no URL is known.
    let unknownPatterns: [String]
    /// The data of each type that a screen sends.
    private let commands: [String: [MessageValues.Choice]]
    /// The data of the events whose rules have a condition on the sender.
    private let sentEvents: [String: [MessageValues.Choice]]
    /// The screens that rules on each type name as the sender, also if they are covered.
    private let senders: [String: Set<String>]
    /// The questions of the rules with a guard, by the names of the rules.
    private let questions: [String: Question]
    /// The messages of the app, which tell what services answer.
    private let catalogue: MessageCatalogue
    /// True if a rule answers that the user dismisses a presentation or a child flow.
    private let answersDismissals: Bool

    private struct Question {
        /// The type of the command that asks. Nil if the message that the rule matched is answered.
        let type: String?
        let answers: [(type: String, choice: MessageValues.Choice)]
    }

    /// - Parameter data: Returns the data of messages of a type.
    init(
        of flow: Flow, _ values: MessageValues, _ catalogue: MessageCatalogue, data: (String) -> [MessageValues.Choice]
    ) {
        (self.flow, self.catalogue) = (flow, catalogue)
        let platform = flow.platform
        answersDismissals =
            flow.acts.contains(.dismissed)
            || flow.placedRules.contains { $0.transition.on.contains(Flow.Ending.abandoned.rawValue) }
        let sent = Set(flow.screens.values.flatMap(\.sends))
        commands = Dictionary(uniqueKeysWithValues: sent.map { ($0, data($0)) })
        let conditions = flow.placedRules.flatMap { rule in
            (rule.transition.when + rule.transition.unless).filter { $0.scope == .sender }.flatMap { condition in
                rule.transition.on.map { (type: $0, screens: condition.screens.map(\.screen)) }
            }
        }
        // Templates of rules refer to the sender, too.
        let referring = flow.placedRules.filter { $0.transition.refersToSender }.flatMap(\.transition.on)
        let all = referring.map { (type: $0, screens: Array(flow.screens.keys)) }.filter {
            flow.serviceTypes.contains($0.type)
        }
        senders = Dictionary((conditions + all).map { ($0.type, Set($0.screens)) }) { $0.union($1) }
        let events = Set((conditions + all).map(\.type)).intersection(flow.serviceTypes)
        sentEvents = Dictionary(uniqueKeysWithValues: events.map { ($0, data($0)) })
        let fromNobody = Set(conditions.filter(\.screens.isEmpty).map(\.type)).intersection(sent).sorted()
        let urls = flow.links.indices.map {
            flow.exampleURLs(ofLink: $0, limit: MessageValues.limit, values.values(ofPlaceholder:_:))
        }
        unknownPatterns = zip(flow.links, urls).filter { $1.isEmpty }.map(\.0.url)
        let opened = flow.links.isEmpty && flow.messageTypes.contains(Machine.deepLinkReceived)
        senderless =
            data(Self.launch).map { Occurrence(.launch, Self.launch, $0.data, platform: platform) }
            + Set(urls.joined()).sorted().map {
                Occurrence(.link, Machine.deepLinkReceived, ["url": .string($0)], platform: platform)
            }
            + (opened ? data(Machine.deepLinkReceived) : []).map {
                Occurrence(.link, Machine.deepLinkReceived, $0.data, platform: platform)
            }
            + fromNobody.flatMap { type in data(type).map { Occurrence(.service, type, $0.data, platform: platform) } }
        var questions: [String: Question] = [:]
        for rule in flow.guardedRules {
            guard let name = rule.name, questions[name] == nil else { continue }
            // Rules with one question are asked together.
            let guards = flow.guardedRules.filter { $0.asks(like: rule) }.compactMap(\.guard)
            let types = Set(guards.flatMap { $0.accept.on + ($0.reject?.on ?? []) }).sorted()
            questions[name] = Question(
                type: rule.guard?.ask?.type, answers: types.flatMap { type in data(type).map { (type, $0) } })
        }
        self.questions = questions
    }

    /// All that can happen in an explored state.
    func all(in machine: ExploredMachine) -> [Occurrence] {
        let state = machine.state
        return senderless + messages(of: state) + reports(in: state) + endings(in: machine)
    }

    /// The messages of screens: of those on which the user can act, and of others if a rule names them as the sender. They
    /// have sent the message before they were covered.
    private func messages(of state: NavigationState) -> [Occurrence] {
        let active = Set(state.active.map(\.id))
        return state.open.flatMap { instance in
            let sends = flow.screens[instance.screen]?.sends ?? []
            let isActive = active.contains(instance.id)
            let commands = sends.filter { isActive || senders[$0]?.contains(instance.screen) == true }
                .map { ($0, self.commands[$0] ?? []) }
            let events = sentEvents.filter { isActive && senders[$0.key]?.contains(instance.screen) == true }
                .sorted { $0.key < $1.key }
            return (commands + events.map { ($0.key, $0.value) }).flatMap { type, choices in
                choices.map { Occurrence(.user, type, $0.data, on: instance, platform: flow.platform) }
            }
        }
    }

    /// The reports of views about acts of the user. A swipe that is begun and cancelled changes nothing, and nothing
    /// depends on the end of an animation.
    private func reports(in state: NavigationState) -> [Occurrence] {
        var reports: [Occurrence] = []
        func add(_ report: ViewReport, _ instance: ScreenInstance, _ fields: [String: JSONValue] = [:]) {
            let data = fields.merging(["instance": .string(instance.id)]) { $1 }
            reports.append(
                Occurrence(.user, report.rawValue, .object(data), on: instance, platform: flow.platform))
        }
        let active = Set(state.active.map(\.id))
        for scope in state.paths {
            let path = state[scope]
            // From the front screen, the user can go back to any screen beneath it.
            guard let front = path.last, active.contains(front.id) else { continue }
            for instance in path { add(.backCompleted, instance) }
        }
        for presentation in state.presentations where active.contains(presentation.top.id) {
            if presentation.style.isQuestion {
                if isDismissable(presentation) { add(.presentationDismissed, presentation.instance) }
                for button in presentation.options.buttons ?? [] {
                    add(.alertAnswered, presentation.instance, ["button": .string(button.id)])
                }
            } else if isDismissable(presentation) {
                add(.presentationDismissed, presentation.instance)
            }
        }
        if case .tabs(let tabs, _)? = state.root.container,
            state.presentations.allSatisfy({ [.window, .popover].contains($0.style) })
        {
            for tab in tabs { add(.tabSelected, state.root.instance, ["tab": .string(tab.name)]) }
        }
        return reports
    }

    /// True if the user can dismiss a presentation without a button. Nothing that covers the screen is swiped away, unless
    /// a rule answers just that.
    private func isDismissable(_ presentation: Presentation) -> Bool {
        presentation.isInteractivelyDismissable
            && ([.sheet, .popover, .window].contains(presentation.style) || answersDismissals)
    }

    /// The answers and the deadlines for which the state waits.
    private func endings(in machine: ExploredMachine) -> [Occurrence] {
        let state = machine.state
        let answers = state.attempts.flatMap { attempt -> [Occurrence] in
            guard let question = questions[attempt.rule] else { return [] }
            let asked = question.type ?? attempt.message.type
            return question.answers.filter { catalogue.canAnswer(asked, with: $0.type) }.map {
                Occurrence(
                    .service, $0.type, $0.choice.data, isNamed: $0.choice.isNamed, answering: (attempt.id, asked),
                    platform: flow.platform)
            }
        }
        let deadlines = machine.nextDeadlines.map {
            Occurrence(.time, Machine.deadlinePassed, ["attempt": .string($0)], platform: flow.platform)
        }
        // The link has expired at the time of any message.
        let expiry = state.parked.map { _ in
            Occurrence(.time, Machine.deadlinePassed, ["attempt": ""], at: 2, platform: flow.platform)
        }
        return answers + deadlines + [expiry].compactMap(\.self)
    }
}

extension Flow.Transition {
    /// True if templates in the actions refer to the sender.
    fileprivate var refersToSender: Bool {
        answeredActions.flatMap(\.actions).flatMap(\.templateTexts).contains {
            (try? Template($0))?.paths(in: .sender).isEmpty == false
        }
    }
}

extension Flow {
    /// True if a rule on an event only answers those of its own platform.
    func asksForOrigin(of type: String) -> Bool {
        placedRules.contains { $0.transition.on.contains(type) && $0.transition.origin == .own }
    }

    /// The types of the commands that this flow answers also if another platform sends them.
    var commandsOfOthers: Set<String> {
        Set(placedRules.filter { $0.transition.origin == .any }.flatMap(\.transition.on))
            .filter { $0.begins(with: "command.") && ViewReport(rawValue: $0) == nil }
    }

    /// The types that services publish and this flow answers.
    var serviceTypes: Set<String> {
        messageTypes.filter {
            !$0.begins(with: "command.") && $0 != PlatformOccurrences.launch && $0 != Machine.deepLinkReceived
                && $0 != Machine.deadlinePassed
        }
    }
}
