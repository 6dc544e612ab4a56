internal import Support

/// A flow in motion: it takes the messages of one session and says what an app shall show.
///
/// It is a value and has no clock, no chance and no connection to anything: the same inputs lead to the same state,
/// effects and snapshot. A host feeds it the messages in the order of the bus and does what it asks for.
///
/// - Views' reports are its own business, in every flow alike.
/// - An action that a view asks for is taken when the flow allows it.
/// - Deep links lead where the flow's `links` say.
/// - Any other message is met with the first rule of the flow that matches. That no rule matches is normal.
/// - A command from a screen that has been dismissed comes too late: it is discarded, visibly.
///
/// The latter, requests, deep links and reports concern only messages of the machine's own platform, and those that name
/// no platform: another platform's instances are unknown here.
public struct Machine: Hashable, Sendable {
    /// The flow.
    public let flow: Flow
    /// The session whose messages it takes.
    public let session: String
    /// How often the state has changed.
    public private(set) var revision: Int
    /// Which screens the app shall show.
    public private(set) var state: NavigationState
    /// The identifier of the message that the last change answered.
    public private(set) var cause: String?
    private(set) var memory: NavigationMemory
    /// What an attempt held back and nobody has met since. Empty between messages.
    private var released: [Input] = []

    /// Starts a session at the flow's start screen, at revision 0.
    ///
    /// - Parameters:
    ///   - flow: The flow.
    ///   - session: The session, as the subject of its messages names it.
    public init(flow: Flow, session: String = "default") {
        var memory = NavigationMemory()
        let state = NavigationState(root: RootScreen(memory.instantiate(flow.start)))
        self.init(flow: flow, session: session, revision: 0, state: state, cause: nil, memory: memory)
    }

    init(
        flow: Flow,
        session: String,
        revision: Int,
        state: NavigationState,
        cause: String?,
        memory: NavigationMemory
    ) {
        self.flow = flow
        self.session = session
        self.revision = revision
        self.state = state
        self.cause = cause
        self.memory = memory
    }

    /// Takes a message.
    ///
    /// - Parameter input: The message. One of another session changes nothing.
    /// - Returns: What the host has to do, in order, together with publishing the snapshot when the revision is new.
    public mutating func handle(_ input: Input) -> [Effect] {
        guard input.subject == session else { return [] }
        let published = revision
        var effects = meet(input)
        // Time passes, and states change with a changed flow, also where the message itself changes nothing.
        if state.parked != nil { effects += commit(step(for: input)) }
        return effects + meet(released: [], at: input.attributes.time, published: published)
    }

    /// Meets what an attempt held back, now that it has ended. Each is a step of its own, whose state all can see.
    ///
    /// - Parameters:
    ///   - time: That of the message which ended it, as no machine has a clock.
    ///   - published: The last revision that is published.
    mutating func meet(released inputs: [Input], at time: Int? = nil, published: Int) -> [Effect] {
        released += inputs
        var published = published
        var effects: [Effect] = []
        while !released.isEmpty {
            let former = self
            let input = released.removeFirst()
            let isExpired = time.flatMap { time in input.attributes.expiry.map { $0 < time } } ?? false
            let met =
                isExpired
                ? [input.discarded("expired"), .commandExpired(messageID: input.id, type: input.type)] : meet(input)
            if former.revision != published, former.revision != revision {
                effects.append(.passed(former.snapshot))
                published = former.revision
            }
            effects += met.began(input.attributes)
        }
        return effects
    }

    private mutating func meet(_ input: Input) -> [Effect] {
        if let report = ViewReport(rawValue: input.type) {
            return isOwn(input) ? handle(report, input) : []
        }
        if let instance = lateInstance(of: input) {
            return [input.discarded("no screen instance '\(instance)' stands")]
        }
        if input.type == Self.deadlinePassed { return isOwn(input) ? expire(input) : [] }
        if let effects = takeAnswer(input) ?? holdBack(input) { return effects }
        if input.type == Flow.requestType { return isOwn(input) ? handleRequest(input) : [] }
        if input.type == Self.deepLinkReceived, !flow.links.isEmpty { return isOwn(input) ? receiveLink(input) : [] }
        guard let match = match(input) else { return lateAnswer(input) }
        return take(match, step(for: input))
    }

    /// Does what a rule says, or asks first.
    private mutating func take(_ match: Match, _ step: MachineStep) -> [Effect] {
        var step = step
        step.scope = match.run?.id
        if let condition = match.transition.guard { return begin(match.transition, condition, step) }
        return perform(match.transition.actions, step)
    }

    /// Takes all of the actions as one step or, when one cannot be taken, none.
    private mutating func perform(_ actions: [Flow.Action], _ step: MachineStep) -> [Effect] {
        var performed = step
        do {
            for action in actions { try performed.apply(action) }
            try tellOfEndings(&performed)
            try performed.checkSize(from: state)
        } catch {
            return commit(step) + [.failed(error)]
        }
        return commit(performed)
    }

    /// The machine as it can be shown, stored and restored.
    public var snapshot: NavigationSnapshot {
        NavigationSnapshot(
            platform: flow.platform,
            session: session,
            revision: revision,
            flow: flow.identity,
            cause: cause,
            commands: Set(state.active.flatMap { flow.screens[$0.screen]?.sends ?? [] }).sorted(),
            state: state,
            memory: memory,
            url: flow.url(for: state)
        )
    }

    private func step(for input: Input) -> MachineStep {
        var step = MachineStep(flow: flow, input: input, before: state, memory: memory)
        step.unparkExpired()
        return step
    }

    /// Makes a step's outcome the machine's.
    private mutating func commit(_ step: MachineStep) -> [Effect] {
        var step = step
        tellOfReportedEndings(&step)
        followParked(&step)
        released = step.settleAttempt() + released
        if step.state != state {
            state = step.state
            memory = step.memory
            revision += 1
            cause = step.input.id
        }
        return step.effects
    }

    /// A rule that matches, and the run of the child flow that it is a rule of.
    typealias Match = (transition: Flow.Transition, run: FlowRun?)

    /// The first rule that matches the message and the state as it is.
    private func match(_ input: Input) -> Match? {
        match(step(for: input), runs: runs(for: input))
    }

    /// The first rule that matches the step's message and the state that it met: of these runs' flows in their order, or
    /// else of the flow itself.
    private func match(_ step: MachineStep, runs: [FlowRun]) -> Match? {
        for run in runs {
            let transitions = flow.flows[run.flow]?.transitions ?? []
            if let transition = transitions.first(where: { matches($0, step) }) { return (transition, run) }
        }
        return flow.transitions.first { matches($0, step) }.map { ($0, nil) }
    }

    private func matches(_ transition: Flow.Transition, _ step: MachineStep) -> Bool {
        transition.on == step.input.type
            && (transition.origin == .any || isOwn(step.input))
            && matches(transition.fields, step.input)
            && holds(transition, step)
    }

    /// Whether the state that the step's message met is one that the rule asks for.
    private func holds(_ transition: Flow.Transition, _ step: MachineStep) -> Bool {
        transition.when.allSatisfy { $0.holds(in: step) } && !transition.unless.contains { $0.holds(in: step) }
    }

    /// Whether the message has these fields.
    private func matches(_ fields: [String: Flow.Match], _ input: Input) -> Bool {
        fields.allSatisfy { $0.value.holds(for: input.data.value(at: $0.key)) }
    }

    /// Whether the message is from the machine's platform, or from none: a tool's report shall work like a view's.
    private func isOwn(_ input: Input) -> Bool {
        input.attributes.platform == nil || input.attributes.platform == flow.platform
    }

    /// The dismissed instance that sent this command. Events tell what has happened, which no dismissal undoes.
    private func lateInstance(of input: Input) -> String? {
        guard isOwn(input), input.type.hasPrefix("command."), let instance = input.attributes.instance,
            !state.isStanding(instance)
        else { return nil }
        return instance
    }
}

// What a view's report changes.
//
// A report is idempotent by the instance that it names. When that instance no longer stands,
// - the repetition of the report that took it away changes nothing and is not worth a word: a view that reconnects,
//   and a second device that shows the session, repeat themselves as a matter of course;
// - a back or a dismissal of what the program has just dismissed changes nothing either: both wanted the same, and the
//   instance stays `leaving` until the view says that it is gone;
// - anything else comes too late, and is discarded visibly: above all an answer to an alert that was dismissed.
extension Machine {
    private mutating func handle(_ report: ViewReport, _ input: Input) -> [Effect] {
        if report == .screenDisplayed { return screenDisplayed(input) }
        guard let instance = input.data["instance"]?.stringValue ?? input.attributes.instance else {
            return [input.discarded("the field 'instance' is missing")]
        }
        if report == .screenGone { return screenGone(instance, input) }
        guard state.isStanding(instance) else { return late(report, instance, input) }
        return switch report {
        case .backStarted, .backCancelled, .backCompleted: back(report, instance, input)
        case .presentationDismissed: presentationDismissed(instance, input)
        case .alertAnswered: alertAnswered(instance, input)
        case .tabSelected: tabSelected(instance, input)
        case .screenDisplayed, .screenGone: []
        }
    }

    private func late(_ report: ViewReport, _ instance: String, _ input: Input) -> [Effect] {
        if memory.departures.contains(input.departure(of: instance)) { return [] }
        let isLeaving = state.leaving.contains { $0.id == instance }
        if isLeaving, report == .backCompleted || report == .presentationDismissed { return [] }
        return [input.discarded("no screen instance '\(instance)' stands")]
    }

    /// A view may lag behind, but it cannot be ahead of the state.
    private func screenDisplayed(_ input: Input) -> [Effect] {
        guard let displayed = input.data["revision"]?.integerValue else {
            return [input.discarded("the field 'revision' is missing")]
        }
        return displayed <= revision ? [] : [input.discarded("there is no revision \(displayed) yet")]
    }

    /// Views send this for everything that disappears, also for what they have reported as dismissed before.
    private mutating func screenGone(_ instance: String, _ input: Input) -> [Effect] {
        guard state.leaving.contains(where: { $0.id == instance }) else {
            if memory.knows(instance) { return [] }
            let reason =
                state.isStanding(instance)
                ? "screen instance '\(instance)' still stands" : "no screen instance '\(instance)' is leaving"
            return [input.discarded(reason)]
        }
        var step = step(for: input)
        step.forget(instance)
        return commit(step)
    }

    /// Only a completed back changes anything: one that is under way may still be cancelled.
    private mutating func back(_ report: ViewReport, _ instance: String, _ input: Input) -> [Effect] {
        var step = step(for: input)
        guard step.takeBack(to: instance) else {
            return [input.discarded("screen instance '\(instance)' is on no path")]
        }
        return report == .backCompleted ? commit(step) : []
    }

    private mutating func presentationDismissed(_ instance: String, _ input: Input) -> [Effect] {
        guard let index = state.presentations.firstIndex(where: { $0.instance.id == instance }) else {
            return [input.discarded("screen instance '\(instance)' is not presented")]
        }
        // The state stays: the view that follows it shows the presentation again.
        guard state.presentations[index].isInteractivelyDismissable else {
            return [input.discarded("screen instance '\(instance)' cannot be dismissed by its user")]
        }
        var step = step(for: input)
        step.takeAwayPresentations(from: index)
        return commit(step)
    }

    private mutating func alertAnswered(_ instance: String, _ input: Input) -> [Effect] {
        let question = state.presentations.firstIndex { $0.instance.id == instance && $0.style.isQuestion }
        guard let index = question else {
            return [input.discarded("screen instance '\(instance)' is no alert")]
        }
        let style = state.presentations[index].style
        let buttons = state.presentations[index].options.buttons ?? []
        let id = input.data["button"]?.stringValue
        guard let button = buttons.first(where: { $0.id == id }) else {
            let known = buttons.map(\.id).joined(separator: ", ")
            return [input.discarded("the \(style) has no button '\(id ?? "")', its buttons are \(known)")]
        }
        var step = step(for: input)
        step.takeAwayPresentations(from: index)
        if let command = button.sends { step.effects.append(.send(type: command, data: .object([:]))) }
        return commit(step)
    }

    private mutating func tabSelected(_ instance: String, _ input: Input) -> [Effect] {
        let tab = input.data["tab"]?.stringValue ?? ""
        var step = step(for: input)
        guard instance == state.root.instance.id, (try? step.selectTab(tab)) != nil else {
            return [input.discarded("screen instance '\(instance)' has no tab '\(tab)'")]
        }
        return commit(step)
    }
}

// The imperative style: a view asks for an action instead of telling what happened, and the flow says for which.
//
// A request is an intent of the moment. What the flow does not allow, what makes no sense and what the state does not
// admit is therefore discarded, visibly, where a rule's action that cannot be taken is an error in the flow. So is what
// is as it should be already: whoever calls a method waits for an answer, a new state or this.
extension Machine {
    private mutating func handleRequest(_ input: Input) -> [Effect] {
        guard let json = input.data["action"] else { return [input.discarded("the field 'action' is missing")] }
        var step = step(for: input)
        // The arguments come from outside: what looks like a template in them is text.
        step.isLiteral = true
        // What a view opens belongs to the child flow that it is part of.
        step.scope = (sender(of: input) ?? state.top).run
        do {
            try step.apply(flow.requestedAction(json))
            try tellOfEndings(&step)
            try step.checkSize(from: state)
        } catch {
            return [input.discarded(error.message)]
        }
        let isIdle = step.state == state && step.effects.isEmpty
        return isIdle ? [input.discarded("nothing changes: it is so already")] : commit(step)
    }
}

// Rules that wait for an answer.
//
// One attempt waits at a time. Its end is a message like any other: an answer, or the deadline, which the host reports.
// Meanwhile
// - events and views' reports are met at once, for they tell what has happened; when the attempt's screen goes with
//   what they change, the attempt goes too (see `MachineStep.settleAttempt`);
// - the user's commands, and whatever else would begin another attempt, are the guard's to hold back.
extension Machine {
    /// The type of the message by which the host reports that an attempt has waited long enough.
    public static let deadlinePassed = "event.GuardDeadlinePassed"

    /// Puts the question of a guarded rule; the step goes on from there when the answer comes.
    private mutating func begin(_ rule: Flow.Transition, _ condition: Flow.Guard, _ step: MachineStep) -> [Effect] {
        let input = step.input
        guard input.data.description.utf8.count <= PendingGuard.dataLimit else {
            return commit(step) + [input.discarded("its data is too large to wait for an answer")]
        }
        let sender = isOwn(input) ? input.attributes.instance : nil
        var attempt = PendingGuard(
            id: input.id,
            rule: rule.name ?? "",
            instance: sender.flatMap { state.isStanding($0) ? $0 : nil } ?? state.top.id,
            run: step.scope,
            deadline: condition.deadline,
            message: input
        )
        var asked = step
        if let former = asked.state.attempt {
            asked.effects.append(former.message.discarded("\(input.type) has taken its place while it waited"))
        }
        if let ask = condition.ask {
            attempt.id = DerivedID.make(from: input.id, platform: flow.platform, name: "ask")
            do {
                let data = try asked.resolve(ask.data)
                asked.effects.append(
                    .ask(
                        id: attempt.id,
                        type: ask.type,
                        data: data,
                        instance: attempt.instance,
                        within: condition.deadline
                    ))
            } catch {
                return commit(step) + [.failed(error)]
            }
        }
        asked.effects.append(.expectAnswer(attempt: attempt.id, within: condition.deadline))
        asked.state.attempt = attempt
        return commit(asked)
    }

    /// Ends the attempt if this is its answer; nil when it is none.
    private mutating func takeAnswer(_ input: Input) -> [Effect]? {
        guard let attempt = state.attempt, input.attributes.causationID == attempt.id else { return nil }
        let rules = flow.rules(of: attempt, in: state)
        if let rule = rules.first(where: { $0.guard.map { matches($0.accept, input) } ?? false }) {
            guard holds(rule, step(for: attempt.message)) else {
                let reason = "the state that its rule asks for is no more, now that it is accepted"
                return conclude(attempt, with: [], input, [attempt.message.discarded(reason)])
            }
            return conclude(attempt, with: rule.actions, input)
        }
        let rejecting = rules.compactMap(\.guard).first { $0.reject.map { matches($0, input) } ?? false }
        guard let condition = rejecting else { return nil }
        // Nobody has said what a rejection does, so it is a fact like others, such as that the user is logged out.
        if condition.rejected.isEmpty, let match = match(input) {
            var step = step(for: input)
            step.state.attempt = nil
            return take(match, step)
        }
        return conclude(attempt, with: condition.rejected, input)
    }

    /// Ends the attempt for which the host has waited. An answer may have been faster.
    private mutating func expire(_ input: Input) -> [Effect] {
        guard let id = input.data["attempt"]?.stringValue else {
            return [input.discarded("the field 'attempt' is missing")]
        }
        guard let attempt = state.attempt, attempt.id == id else {
            return memory.knows(attempt: id) ? [] : [input.discarded("no attempt '\(id)' waits")]
        }
        let actions = flow.rule(of: attempt, in: state)?.guard?.expired ?? []
        return conclude(attempt, with: actions, input, [attempt.message.discarded("no answer came in time")])
    }

    /// What becomes of a message that must not be met while an attempt waits; nil when it may.
    private mutating func holdBack(_ input: Input) -> [Effect]? {
        guard let attempt = state.attempt, let condition = flow.rule(of: attempt, in: state)?.guard else { return nil }
        let rule = match(input)?.transition
        guard input.isIntent || rule?.guard != nil else { return nil }
        if attempt.holds(input) { return [] }
        switch condition.meanwhile {
        case .supersede: return nil
        case .drop:
            // What no rule answers is not worth a word, now as ever.
            guard rule != nil || input.isNavigationRequest else { return nil }
            return [input.discarded("\(attempt.message.type) waits for an answer")]
        case .queue:
            // A rule that does not match now may do so then.
            guard flow.messageTypes.contains(input.type) || input.isNavigationRequest else { return nil }
            return enqueue(input)
        }
    }

    /// Says that nothing has come of an answer because its attempt has ended; empty when it answers nothing.
    private func lateAnswer(_ input: Input) -> [Effect] {
        guard let id = input.attributes.causationID, memory.knows(attempt: id) else { return [] }
        let answers = flow.guardedRules.compactMap(\.guard).flatMap { [$0.accept] + ($0.reject.map { [$0] } ?? []) }
        return answers.contains { matches($0, input) } ? [input.discarded("the attempt '\(id)' has ended")] : []
    }

    private mutating func enqueue(_ input: Input) -> [Effect] {
        var step = step(for: input)
        guard let count = step.state.attempt?.queue.count, count < PendingGuard.queueLimit else {
            return [input.discarded("\(PendingGuard.queueLimit) messages wait already")]
        }
        guard input.data.description.utf8.count <= PendingGuard.dataLimit else {
            return [input.discarded("its data is too large to wait")]
        }
        step.state.attempt?.queue.append(input)
        return commit(step)
    }

    /// Takes what an attempt led to. It has ended also when that cannot be done.
    private mutating func conclude(
        _ attempt: PendingGuard,
        with actions: [Flow.Action],
        _ input: Input,
        _ effects: [Effect] = []
    ) -> [Effect] {
        var ended = step(for: input)
        ended.asked = attempt.message
        ended.scope = state.run(attempt.run)?.id
        ended.state.attempt = nil
        ended.effects = effects
        return perform(actions, ended).began(attempt.message.attributes)
    }

    private func matches(_ answer: Flow.Guard.Answer, _ input: Input) -> Bool {
        answer.on == input.type && matches(answer.fields, input)
    }
}

// Child flows: whose rules are asked, and who hears of a run's end.
extension Machine {
    /// How many runs one message may end, one after the other. Rules that begin a flow whenever it is abandoned, and
    /// abandon it at once, would go on for ever.
    private static let endingLimit = 64

    /// The runs whose rules are asked before the flow's own, each before the one that began it.
    ///
    /// A command is an intent on the screen that sent it. Anything else is for the screen in front, and then for all
    /// others that the user can act on.
    private func runs(for input: Input) -> [FlowRun] {
        guard !state.runs.isEmpty else { return [] }
        if input.type.hasPrefix("command."), let sender = sender(of: input) { return state.lineage(of: sender.run) }
        var runs: [FlowRun] = []
        for screen in [state.top] + state.active {
            for run in state.lineage(of: screen.run) where !runs.contains(run) { runs.append(run) }
        }
        return runs
    }

    /// The screen that a message of the machine's own platform came from.
    private func sender(of input: Input) -> ScreenInstance? {
        guard isOwn(input), let instance = input.attributes.instance else { return nil }
        return state.standing.first { $0.id == instance }
    }

    /// Tells those who began a run of its end, in the same step, until no more of them ends.
    ///
    /// - Throws: What their rules throw.
    private func tellOfEndings(_ step: inout MachineStep) throws(NavigationFailure) {
        let origin = step.input
        step.abandonRuns()
        var count = 0
        while !step.endings.isEmpty {
            count += 1
            guard count <= Self.endingLimit else { throw .endlessFlows }
            let ending = step.endings.removeFirst()
            // Whoever began it may have ended with it.
            guard ending.run.parent == nil || step.state.run(ending.run.parent) != nil else { continue }
            try tell(of: ending, on: origin, &step)
            step.abandonRuns()
        }
        step.input = origin
    }

    private func tell(of ending: RunEnding, on origin: Input, _ step: inout MachineStep) throws(NavigationFailure) {
        step.input = ending.message(on: origin)
        // What a guard was asked and answered is for the rule alone that ended the flow.
        step.asked = nil
        step.before = step.state
        step.isLiteral = false
        guard let match = match(step, runs: step.state.lineage(of: ending.run.parent)) else { return }
        step.scope = match.run?.id
        for action in match.transition.actions { try step.apply(action) }
    }

    /// Tells of the runs that a view's report has ended. What has happened has happened: when a rule that is told of it
    /// cannot be applied, the report has its effect all the same.
    private func tellOfReportedEndings(_ step: inout MachineStep) {
        let origin = step.input
        step.abandonRuns()
        var attempt = step
        do {
            try tellOfEndings(&attempt)
            try attempt.checkSize(from: state)
            step = attempt
        } catch {
            step.input = origin
            step.endings = []
            step.effects.append(.failed(error))
        }
    }
}

// What becomes of deep links.
//
// A link is an event: it is met at once, whatever attempt waits. It is parked in the state, and each step tries it, its own
// first: so it is followed in the step that admits it. Of all that a user wants the newest counts: a newer link takes the
// place of a parked one, and so does what a newer command has opened.
extension Machine {
    /// The type of the message that brings a deep link.
    public static let deepLinkReceived = "event.DeepLinkReceived"

    private mutating func receiveLink(_ input: Input) -> [Effect] {
        guard let url = input.data["url"]?.stringValue else { return [input.discarded("the field 'url' is missing")] }
        guard url.utf8.count <= ScreenInstance.argumentLimit else {
            return [input.discarded("the URL exceeds \(ScreenInstance.argumentLimit) bytes")]
        }
        if state.parked?.messageID == input.id { return [] }
        var step = step(for: input)
        let park: Int
        switch flow.answer(to: url, in: step.state) {
        case .unknown: return [input.discarded(flow.advice(forLink: url))]
        case .refused(let reason): return [input.discarded(reason)]
        case .waits(let reason, park: 0): return [input.discarded("it cannot be followed now: \(reason)")]
        case .waits(_, let milliseconds): park = milliseconds
        case .followed(let link): park = link.link.park.milliseconds
        }
        let (expiry, isLate) = (input.attributes.time ?? 0).addingReportingOverflow(park)
        step.unpark("a newer link came")
        step.state.parked = ParkedLink(
            url: url, messageID: input.id, expires: isLate ? .max : expiry, waiting: step.state.attempt)
        return commit(step)
    }

    /// Follows the parked link if the step has come to a state that admits it.
    ///
    /// Those who began the child flows that it ends are told before it leads anywhere, once: whatever their rules open, the
    /// link meets it as it meets any other state, and what it leads to is the whole of what then stands.
    private func followParked(_ step: inout MachineStep, telling: Bool = true) {
        guard let parked = step.state.parked else { return }
        switch flow.answer(to: parked.url, in: step.state) {
        case .unknown: step.unpark(flow.advice(forLink: parked.url))
        case .refused(let reason): step.unpark(reason)
        case .waits(let reason, park: 0) where !telling: step.unpark("it cannot be followed now: \(reason)")
        case .waits: break
        case .followed(let link):
            var followed = step
            followed.state.parked = nil
            followed.follow(link)
            guard !followed.state.isTooLarge(from: state) else {
                return step.unpark(NavigationFailure.stateTooLarge.message)
            }
            if telling, isChosen(by: step, since: parked, against: followed.state) {
                return step.unpark("the user has chosen something else since")
            }
            step.abandonRuns(comingTo: followed.state)
            guard telling, !step.endings.isEmpty else {
                step = followed
                step.abandonRuns()
                step.endings = []
                return
            }
            tellOfReportedEndings(&step)
            followParked(&step, telling: false)
        }
    }

    /// Whether the step does what the user has wished since the link came, and the state that the link leads to is
    /// without that.
    private func isChosen(by step: MachineStep, since parked: ParkedLink, against next: NavigationState) -> Bool {
        let wish = wish(of: step)
        guard wish.isIntent, parked.older?.contains(wish.id) != true else { return false }
        // What a report leads to is no wish: the user has only taken something away. A tab is chosen by either.
        if let tab = step.state.selectedTab, step.state.root.instance.id == state.root.instance.id,
            tab != state.selectedTab, tab != next.selectedTab
        {
            return true
        }
        guard ViewReport(rawValue: wish.type) == nil else { return false }
        return !step.state.opened(since: state).allSatisfy(next.isStanding)
    }

    /// The message that the step answers. What a guard was asked for is a wish of when it was asked.
    private func wish(of step: MachineStep) -> Input {
        guard let attempt = state.attempt, attempt.id != step.state.attempt?.id,
            attempt.id == step.input.attributes.causationID
        else { return step.input }
        return attempt.message
    }
}

extension NavigationState {
    fileprivate var selectedTab: String? { root.container?.selectedTab }

    /// What has been pushed, shown or presented since. A new root, with what it arranges beside it, is not among it: that
    /// is what links wait for.
    fileprivate func opened(since former: NavigationState) -> Set<String> {
        var opened = Set(standing.map(\.id)).subtracting(former.standing.map(\.id))
        if opened.remove(root.instance.id) != nil {
            opened.subtract((root.container?.stacks ?? []).map(\.instance.id))
        }
        return opened
    }
}

extension Machine.Input {
    package func discarded(_ reason: String) -> Machine.Effect {
        .messageDiscarded(messageID: id, reason: "\(type): \(reason)")
    }

    /// What this report leaves behind when it takes an instance away, and what its repetition is known by.
    func departure(of instance: String) -> NavigationMemory.Departure {
        let button = type == ViewReport.alertAnswered.rawValue ? data["button"]?.stringValue : nil
        return NavigationMemory.Departure(instance: instance, report: type, button: button)
    }

    /// Whether this is what a user wants. All else tells what has happened, whatever anybody waits for.
    var isIntent: Bool { type.hasPrefix("command.") }

    /// Whether this asks for an action by its name, which needs no rule.
    fileprivate var isNavigationRequest: Bool { type == Flow.requestType }
}

extension [Machine.Effect] {
    /// The same, as what began where these attributes say.
    func began(_ attributes: Machine.Attributes) -> [Machine.Effect] {
        isEmpty ? [] : [.began(attributes)] + self
    }
}

extension Flow.Condition {
    fileprivate func holds(in step: MachineStep) -> Bool {
        holds(in: step.before) { try? step.resolve($0) }
    }
}
