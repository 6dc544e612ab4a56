internal import Support

/// A state machine that runs a flow: it handles the messages of one session and computes the screens that the app
/// shows.
///
/// It is a value without a clock, random numbers or connections, so the same inputs lead to the same state, effects and
/// snapshot. A host passes the messages to it in the order of the bus, and carries out its effects.
///
/// - Views' reports are handled by the machine itself, in the same way for every flow. A rule may answer the act of the
///   user that a report has carried out (`Flow.UserAct`).
/// - A rule with `after` acts when its conditions have held for a time (``PendingWait``).
/// - An action that a view requests is taken if the flow allows it and the state makes it possible.
/// - Deep links are handled by the flow's `links`, if the flow has any.
/// - Other messages are handled by the first rule that matches. While a rule with a guard waits, the answer ends the
///   wait, and some other messages of the same screen are queued or discarded (``Flow/Guard/Meanwhile``).
/// - A command, other than a report, from a screen instance that is not open is discarded with
///   `event.MessageDiscarded`.
///
/// The machine does not know the instances of other platforms. Therefore it handles reports, requests, `links` and
/// `event.GuardDeadlinePassed` only if the message names the machine's own platform or no platform, and it does not
/// check the instance of a command from another platform.
public struct Machine: Hashable, Sendable {
    /// The flow that the machine runs.
    public let flow: Flow
    /// The session. Messages of other sessions are ignored.
    public let session: String
    /// The number of changes of the state.
    public private(set) var revision: Int
    public private(set) var state: NavigationState
    /// The id of the last message that changed the state. Nil if no message has changed it.
    public private(set) var cause: String?
    /// The place in the flow of the rule or link that last changed the state: `transitions[3]`,
    /// `flows.login.transitions[0]`, `links[1]`. Nil if the last change did not come from a rule or a link. The end of
    /// a screen's animation does not count as a change.
    public private(set) var rule: String?
    private(set) var memory: NavigationMemory
    /// Messages from the queues of ended attempts that have not been handled yet. Empty between calls of
    /// ``handle(_:)``.
    private var released: [Input] = []

    /// Starts a session on the flow's start screen, at revision 0.
    ///
    /// - Parameter session: The session, which is the subject of its messages.
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
        rule: String? = nil,
        memory: NavigationMemory
    ) {
        self.flow = flow
        self.session = session
        self.revision = revision
        self.state = state
        self.cause = cause
        self.rule = rule
        self.memory = memory
    }

    /// Handles a message.
    ///
    /// - Parameter input: The message. A message of another session changes nothing.
    /// - Returns: The effects that the host has to carry out, in order. If the revision has changed, the host also
    ///   publishes the snapshot.
    public mutating func handle(_ input: Input) -> [Effect] {
        guard input.subject == session else { return [] }
        let published = revision
        var effects = process(input)
        // A parked link may have expired, or a changed flow may admit it, even if the message itself changes nothing.
        // The first wait of a session begins with its first message, even if no rule matches it.
        if state.parked != nil || flow.program.hasWaits {
            var step = step(for: input)
            effects += commit(&step)
        }
        if released.isEmpty { return effects }
        return effects + process(released: [], at: input.attributes.time, published: published)
    }

    /// Handles the queued messages of an attempt that has ended, each as a step of its own. An expired message is
    /// discarded.
    ///
    /// - Parameters:
    ///   - time: The time of the message that ended the attempt. Nil if it is not known; then no queued message counts
    ///     as expired.
    ///   - published: The last revision that was published.
    mutating func process(released inputs: [Input], at time: Int? = nil, published: Int) -> [Effect] {
        released += inputs
        var published = published
        var effects: [Effect] = []
        while !released.isEmpty {
            let former = self
            let input = released.removeFirst()
            let isExpired = time.flatMap { time in input.attributes.expiry.map { $0 < time } } ?? false
            let processed =
                isExpired
                ? [
                    input.discarded(Self.expiredReason), .commandExpired(messageID: input.id, type: input.type),
                ] : process(input)
            if former.revision != published, former.revision != revision {
                effects.append(.passed(former.snapshot))
                published = former.revision
            }
            effects += processed.began(input.attributes)
        }
        return effects
    }

    private mutating func process(_ input: Input) -> [Effect] {
        let answer = flow.program.rules(of: nil)[input.type]
        if case .report(let report) = answer.known { return isOwn(input) ? handle(report, input) : [] }
        if let instance = lateInstance(of: input) {
            return [input.discarded("screen instance '\(instance)' was dismissed or never existed")]
        }
        if case .deadlinePassed = answer.known { return isOwn(input) ? expire(input) : [] }
        if let effects = processAnswer(input) ?? holdBack(input) { return effects }
        switch answer.known {
        case .request: return isOwn(input) ? handleRequest(input) : []
        case .link: return isOwn(input) ? receiveLink(input) : []
        case .report, .deadlinePassed, nil: break
        }
        if answer.rules.isEmpty, state.runs.isEmpty { return lateAnswer(input) }
        var step = step(for: input)
        guard let match = match(&step, runs: runs(for: input)) else { return lateAnswer(input) }
        return perform(match, &step)
    }

    /// Performs the actions of a rule, or begins an attempt if the rule has a guard.
    private mutating func perform(_ match: Match, _ step: inout StateTransaction) -> [Effect] {
        let rule = match.rule.transition
        step.begin(rule: match.rule.keyPath, rule.guard == nil ? nil : .ask)
        if let condition = rule.guard { return begin(rule, condition: condition, step: step) }
        return perform(rule.actions, &step)
    }

    /// Performs all of the actions as one step. If one of them is not possible, none is performed.
    private mutating func perform(_ actions: [Flow.Action], _ step: inout StateTransaction) -> [Effect] {
        let former = step
        do {
            for action in actions { try step.apply(action) }
            try tellOfEndings(&step)
            try step.checkSize(from: state)
        } catch {
            step.reset(to: former)
            return commit(&step) + [.failed(error)]
        }
        return commit(&step)
    }

    /// The machine's state in the form in which it is published, stored and restored.
    public var snapshot: NavigationSnapshot {
        // Sorted and without repetitions already for each screen.
        let commands = state.active.compactMap { flow.screens[$0.screen]?.sends }
        return NavigationSnapshot(
            platform: flow.platform,
            session: session,
            revision: revision,
            flow: flow.identity,
            cause: cause,
            rule: rule,
            commands: commands.count == 1 ? commands[0] : Set(commands.joined()).sorted(),
            state: state,
            memory: memory,
            url: flow.url(for: state),
            withoutBack: flow.screensWithoutBack.isEmpty ? [] : flow.instancesWithoutBack(in: state)
        )
    }

    func step(for input: Input) -> StateTransaction {
        var step = StateTransaction(flow: flow, input: input, before: state, memory: memory)
        step.unparkExpired()
        return step
    }

    /// Completes a step. If it has changed the state, moves its state to the machine.
    private mutating func commit(_ step: inout StateTransaction) -> [Effect] {
        if let act = step.act { tell(of: act, &step) }
        tellOfReportedEndings(&step)
        followParked(&step)
        let queued = step.settleAttempts()
        if !queued.isEmpty { released = queued + released }
        step.settleWaits()
        if step.state != state {
            swap(&state, &step.state)
            memory.record(step.entries, instances: step.instances)
            revision += 1
            cause = step.input.id
            rule = step.rule
        }
        return step.effects
    }

    /// A rule that matches, and the run of the child flow that it belongs to. The run is nil for a rule of the flow
    /// itself.
    typealias Match = (rule: PreparedRule, run: FlowRun?)

    /// The first rule that matches the message and the current state.
    private func match(_ input: Input) -> Match? {
        var step = step(for: input)
        return match(&step, runs: runs(for: input))
    }

    /// Finds the first rule that matches the step's message and the state before the step, and sets the step's scope to
    /// the rule's run. The rules of the child flows of `runs` are tried first, in the order of `runs`, then the rules of
    /// the flow itself.
    func match(_ step: inout StateTransaction, runs: [FlowRun]) -> Match? {
        let former = step.scope
        for run in runs {
            step.scope = run.id
            if let rule = rule(answering: step, among: flow.program.rules(of: run.flow)) { return (rule, run) }
        }
        step.scope = nil
        if let rule = rule(answering: step, among: flow.program.rules(of: nil)) { return (rule, nil) }
        step.scope = former
        return nil
    }

    private func rule(answering step: borrowing StateTransaction, among rules: RuleTable) -> PreparedRule? {
        rules[step.input.type].rules.first { rule in
            (rule.transition.origin == .any || isOwn(step.input)) && rule.admits(step.input.data)
                && step.admits(rule)
        }
    }

    /// True if the message comes from the machine's platform or names no platform.
    func isOwn(_ input: Input) -> Bool {
        input.attributes.platform == nil || input.attributes.platform == flow.platform
    }

    /// The instance that a command names as its sender, if that instance is not open. Nil for other messages, for a
    /// command that names no instance, and for a command from another platform.
    private func lateInstance(of input: Input) -> String? {
        guard let instance = input.attributes.instance, isOwn(input), input.isIntent, !state.isOpen(instance)
        else { return nil }
        return instance
    }
}

// Views' reports.
//
// Most reports name an instance. If that instance is no longer open, the report is handled as follows:
// - A repetition of the report that recently removed the instance is ignored.
// - `command.BackCompleted` or `command.PresentationDismissed` for an instance that the program has dismissed and that
//   is still leaving is ignored.
// - `command.ScreenGone` removes the instance from `leaving`. It is ignored if a report has removed the instance
//   recently.
// - Any other report is discarded with `event.MessageDiscarded`.
extension Machine {
    private mutating func handle(_ report: ViewReport, _ input: Input) -> [Effect] {
        if report == .screenDisplayed { return screenDisplayed(input) }
        guard let instance = input.data["instance"]?.stringValue ?? input.attributes.instance else {
            return [input.discarded("the field 'instance' is missing")]
        }
        if report == .screenGone { return screenGone(instance, input) }
        guard state.isOpen(instance) else { return late(report, of: instance, input: input) }
        return switch report {
        case .backStarted, .backCancelled, .backCompleted: back(report, of: instance, input: input)
        case .presentationDismissed: presentationDismissed(instance, input)
        case .alertAnswered: alertAnswered(instance, input)
        case .tabSelected: tabSelected(instance, input)
        case .screenDisplayed, .screenGone: []
        }
    }

    private func late(_ report: ViewReport, of instance: String, input: Input) -> [Effect] {
        if memory.departures.contains(input.departure(of: instance)) { return [] }
        let isLeaving = state.leaving.contains { $0.id == instance }
        if isLeaving, report == .backCompleted || report == .presentationDismissed { return [] }
        return [input.discarded("screen instance '\(instance)' was dismissed or never existed")]
    }

    /// Handles the report of the displayed revision. It is discarded if that revision does not exist yet.
    private func screenDisplayed(_ input: Input) -> [Effect] {
        guard let displayed = input.data["revision"]?.integerValue else {
            return [input.discarded("the field 'revision' is missing")]
        }
        return displayed <= revision ? [] : [input.discarded("revision \(displayed) does not exist yet")]
    }

    /// Handles the report that an instance has been animated out. A view may send it for each instance that disappears,
    /// even if it has reported its dismissal before.
    private mutating func screenGone(_ instance: String, _ input: Input) -> [Effect] {
        guard state.leaving.contains(where: { $0.id == instance }) else {
            if memory.knows(instance) { return [] }
            let reason =
                state.isOpen(instance)
                ? "screen instance '\(instance)' has not been dismissed"
                : "screen instance '\(instance)' is not leaving"
            return [input.discarded(reason)]
        }
        var step = step(for: input)
        // The open screens do not change, so the rule that led to them stays.
        step.rule = rule
        step.forget(instance)
        return commit(&step)
    }

    /// Handles a swipe back. Only a completed swipe changes the state.
    private mutating func back(_ report: ViewReport, of instance: String, input: Input) -> [Effect] {
        if report != .backCancelled, flow.forbidsBack(from: instance, in: state) {
            return [input.discarded("the user cannot go back from screen instance '\(instance)'")]
        }
        var step = step(for: input)
        guard step.recordUserDismissal(ofPathFrom: instance) else {
            return [input.discarded("screen instance '\(instance)' is not on a path")]
        }
        step.recordAct(.wentBack, from: instance)
        return report == .backCompleted ? commit(&step) : []
    }

    private mutating func presentationDismissed(_ instance: String, _ input: Input) -> [Effect] {
        guard let index = state.presentations.firstIndex(where: { $0.instance.id == instance }) else {
            return [input.discarded("screen instance '\(instance)' is not presented")]
        }
        guard state.presentations[index].isInteractivelyDismissable else {
            return [input.discarded("screen instance '\(instance)' cannot be dismissed by the user")]
        }
        var step = step(for: input)
        step.recordUserDismissal(ofPresentationAt: index)
        step.recordAct(.dismissed, from: instance)
        return commit(&step)
    }

    private mutating func alertAnswered(_ instance: String, _ input: Input) -> [Effect] {
        let index = state.presentations.firstIndex { $0.instance.id == instance && $0.style.isQuestion }
        guard let index else {
            return [input.discarded("screen instance '\(instance)' is not an alert or a dialog")]
        }
        let style = state.presentations[index].style
        let buttons = state.presentations[index].options.buttons ?? []
        let id = input.data["button"]?.stringValue
        guard let button = buttons.first(where: { $0.id == id }) else {
            let known = buttons.map(\.id).joined(separator: ", ")
            return [input.discarded("the \(style) has no button '\(id ?? "")'; its buttons are \(known)")]
        }
        var step = step(for: input)
        step.recordUserDismissal(ofPresentationAt: index)
        let question = state.presentations[index].instance
        if let command = button.sends {
            step.record(.answer(NavigationMemory.Answer(message: input.id, question: question, sends: command)))
            step.effects.append(.send(type: command, data: .object(button.data ?? [:])))
        }
        if button.actions.isEmpty { return commit(&step) }
        // The templates were filled in when the question was presented.
        step.isLiteral = true
        step.scope = question.run
        step.rule = flow.keyPath(presenting: question.screen, with: buttons)
        // The actions change the window of the question, even if the report names its instance only in the data.
        step.input.attributes.instance = instance
        return perform(button.actions, &step)
    }

    private mutating func tabSelected(_ instance: String, _ input: Input) -> [Effect] {
        let tab = input.data["tab"]?.stringValue ?? ""
        var step = step(for: input)
        guard instance == state.root.instance.id, (try? step.selectTab(tab)) != nil else {
            return [input.discarded("screen instance '\(instance)' has no tab '\(tab)'")]
        }
        if memory.knows(tabReport: input.id) { return [] }
        step.recordAct(selecting: tab)
        return commit(&step)
    }
}

// Requests: a view asks for an action instead of reporting an act of the user, and the flow lists the actions that it
// allows.
//
// A request is discarded with `event.MessageDiscarded` if the flow does not allow the action, if the action is invalid,
// or if it is not possible in this state. For a rule, an action that is not possible is an error instead. A request
// without any effect is discarded too.
extension Machine {
    private mutating func handleRequest(_ input: Input) -> [Effect] {
        guard let json = input.data["action"] else { return [input.discarded("the field 'action' is missing")] }
        var step = step(for: input)
        // The arguments come from a view, so strings that look like templates are taken literally.
        step.isLiteral = true
        step.isRequest = true
        // The screens that a view opens belong to the child flow that the view is part of.
        step.scope = (step.sender ?? state.top).run
        do {
            try step.apply(flow.requestedAction(json))
            try tellOfEndings(&step)
            try step.checkSize(from: state)
        } catch {
            return [input.discarded(error.message)]
        }
        let isIdle = step.state == state && step.effects.isEmpty
        return isIdle ? [input.discarded("the requested action changes nothing")] : commit(&step)
    }
}

// Guards: rules that wait for an answer.
//
// An attempt belongs to a screen instance and, for a rule of a child flow, to a run. Attempts of different screens wait
// at the same time. An attempt ends with an answer, or with `event.GuardDeadlinePassed` from the host. It also ends if
// its screen is dismissed or the run of its rule ends (see `StateTransaction.settleAttempts`), if another attempt of its
// screen replaces it, or if its rule is gone after a restart (see `AttemptSalvage`). While it waits,
// - views' reports and messages such as events are handled at once;
// - commands of other screens and runs are handled at once;
// - other commands, and messages that would begin another attempt of the screen or run, are treated as the guard's
//   `meanwhile` says.
extension Machine {
    /// The type of the message with which the host reports that the deadline of an attempt has passed.
    public static let deadlinePassed = "event.GuardDeadlinePassed"

    /// Sends the question of a guarded rule, if it has one, and begins the rule's attempt.
    private mutating func begin(_ rule: Flow.Transition, condition: Flow.Guard, step: StateTransaction) -> [Effect] {
        var step = step
        let input = step.input
        guard input.data.description.utf8.count <= PendingGuard.dataLimit else {
            return commit(&step) + [
                input.discarded("the data exceeds \(PendingGuard.dataLimit) bytes, the limit for a message that waits")
            ]
        }
        var attempt = PendingGuard(
            id: input.id,
            rule: rule.name ?? "",
            instance: owner(of: input, run: step.scope).instance,
            run: step.scope,
            deadline: condition.deadline,
            message: input
        )
        var asked = step
        for former in attempts(holding: input, run: step.scope, among: asked.state.attempts) {
            // A message that rejected another attempt has not been held back yet.
            if let meanwhile = meanwhile(of: former), meanwhile != .supersede {
                return commit(&step) + [input.discarded("\(former.message.type) waits for an answer")]
            }
            asked.end(former)
            asked.effects.append(former.message.discarded("a newer \(input.type) replaced the waiting message"))
        }
        let others = asked.state.attempts
        guard others.count < PendingGuard.countLimit else {
            let reason = "\(PendingGuard.countLimit) other messages wait for answers already"
            return commit(&step) + [input.discarded(reason)]
        }
        if !others.isEmpty, let excess = Self.excess(of: input, beside: others) {
            return commit(&step) + [input.discarded(excess)]
        }
        if let ask = condition.ask {
            attempt.id = DerivedID.make(from: input.id, platform: flow.platform, name: "ask")
            do {
                let data = try asked.resolve(ask.data, as: flow.commands[ask.type])
                asked.effects.append(
                    .ask(
                        id: attempt.id,
                        type: ask.type,
                        data: data,
                        instance: attempt.instance,
                        within: condition.deadline
                    ))
            } catch {
                return commit(&step) + [.failed(error)]
            }
        }
        asked.effects.append(.expectAnswer(attempt: attempt.id, within: condition.deadline))
        asked.state.attempts.append(attempt)
        return commit(&asked)
    }

    /// The screen instance and the run to which a message belongs: those of its sender or, without a sender, those that
    /// its attempt has or would have.
    ///
    /// - Parameter run: The run of the rule that matches the message. Nil for a rule of the flow itself.
    private func owner(of input: Input, run: String?) -> (instance: String, run: String?) {
        if let sender = state.sender(of: input, on: flow.platform) { return (sender.id, sender.run) }
        return ((run.flatMap(state.coveredFront(ofRun:)) ?? state.top).id, run)
    }

    /// The attempts of the screen instance or the run to which a message belongs.
    ///
    /// - Parameter run: The run of the rule that matches the message.
    private func attempts(holding input: Input, run: String?, among attempts: [PendingGuard]) -> [PendingGuard] {
        if attempts.isEmpty { return [] }
        let owner = owner(of: input, run: run)
        return attempts.filter { $0.instance == owner.instance || ($0.run != nil && $0.run == owner.run) }
    }

    /// The treatment of messages that the attempt holds back. Nil if the flow no longer has its rule.
    private func meanwhile(of attempt: PendingGuard) -> Flow.Guard.Meanwhile? {
        flow.rule(of: attempt, in: state)?.transition.guard?.meanwhile
    }

    /// The reason why the message cannot wait besides those of several attempts. Nil if it can.
    private static func excess(of input: Input, beside attempts: [PendingGuard]) -> String? {
        let size = attempts.reduce(input.data.description.utf8.count) { $0 + $1.size }
        guard size > PendingGuard.sizeLimit else { return nil }
        return "the waiting messages would exceed \(PendingGuard.sizeLimit) bytes of data"
    }

    /// Ends the attempt that the message answers. Nil if there is none.
    private mutating func processAnswer(_ input: Input) -> [Effect]? {
        guard let attempt = state.attempts.first(where: { $0.id == input.attributes.causationID }) else { return nil }
        let rules = flow.rules(of: attempt, in: state)
        if let rule = rules.first(where: { $0.accept?.matches(input) == true }) {
            var asking = step(for: attempt.message)
            asking.scope = attempt.run
            guard asking.admits(rule) else {
                let reason = "the message was accepted, but the state no longer fulfils the rule's conditions"
                return conclude(attempt, with: [], input: input, effects: [attempt.message.discarded(reason)])
            }
            return conclude(attempt, with: rule.transition.actions, of: rule, input: input)
        }
        let rejecting = rules.first { $0.reject?.matches(input) == true }
        guard let rejecting, let condition = rejecting.transition.guard else { return nil }
        // The guard has no actions for a rejection, so the rules handle the rejecting message like any other message.
        if condition.rejected.isEmpty {
            var step = step(for: input)
            if let match = match(&step, runs: runs(for: input)) {
                step.end(attempt)
                return perform(match, &step)
            }
        }
        return conclude(attempt, with: condition.rejected, of: rejecting, .rejected, input: input)
    }

    /// Ends the attempt or the wait because its deadline has passed. If it has ended recently, the report is ignored.
    private mutating func expire(_ input: Input) -> [Effect] {
        guard let id = input.data["attempt"]?.stringValue else {
            return [input.discarded("the field 'attempt' is missing")]
        }
        if let wait = state.waits.first(where: { $0.id == id }) { return finish(wait, input) }
        guard let attempt = state.attempts.first(where: { $0.id == id }) else {
            return memory.knows(attempt: id) ? [] : [input.discarded("attempt '\(id)' is not waiting")]
        }
        let rule = flow.rule(of: attempt, in: state)
        return conclude(
            attempt, with: rule?.transition.guard?.expired ?? [], of: rule, .expired, input: input,
            effects: [attempt.message.discarded("no answer came in time")])
    }

    /// Takes the actions of a rule that has waited. The wait is over even if they cannot be taken.
    private mutating func finish(_ wait: PendingWait, _ input: Input) -> [Effect] {
        guard wait.isOver != true, let rule = flow.rule(of: wait, in: state) else { return [] }
        var step = step(for: input)
        step.state.waits = state.waits.map { other in
            var other = other
            if other.id == wait.id { other.isOver = true }
            return other
        }
        step.scope = wait.run
        step.begin(rule: rule.keyPath)
        return perform(rule.transition.actions, &step)
    }

    /// Discards or queues a message that must not be handled while an attempt of its screen or run waits. Nil if it may
    /// be handled now.
    private mutating func holdBack(_ input: Input) -> [Effect]? {
        if state.attempts.isEmpty { return nil }
        let match = match(input)
        guard input.isIntent || match?.rule.transition.guard != nil else { return nil }
        if state.attempts.contains(where: { $0.holds(input) }) { return [] }
        for attempt in attempts(holding: input, run: match?.run?.id, among: state.attempts) {
            switch meanwhile(of: attempt) {
            case .supersede, nil: continue
            case .drop:
                // A command that no rule matches is ignored, as at any other time.
                guard match != nil || input.isNavigationRequest else { return nil }
                return [input.discarded("\(attempt.message.type) waits for an answer")]
            case .queue:
                // The message may match a rule when the attempt has ended, even if it matches none now.
                guard flow.messageTypes.contains(input.type) || input.isNavigationRequest else { return nil }
                return enqueue(input, after: attempt)
            }
        }
        return nil
    }

    /// Discards an answer to an attempt that has ended recently. Empty if the message is not such an answer.
    private func lateAnswer(_ input: Input) -> [Effect] {
        guard let id = input.attributes.causationID, memory.knows(attempt: id) else { return [] }
        let isAnswer = flow.program.answers.contains { $0.matches(input) }
        return isAnswer ? [input.discarded("attempt '\(id)' has ended")] : []
    }

    private mutating func enqueue(_ input: Input, after attempt: PendingGuard) -> [Effect] {
        var step = step(for: input)
        guard let index = step.state.attempts.firstIndex(where: { $0.id == attempt.id }),
            attempt.queue.count < PendingGuard.queueLimit
        else {
            return [input.discarded("\(PendingGuard.queueLimit) messages are queued already")]
        }
        guard input.data.description.utf8.count <= PendingGuard.dataLimit else {
            return [input.discarded("the data exceeds \(PendingGuard.dataLimit) bytes, the limit for a queued message")]
        }
        if step.state.attempts.count > 1, let excess = Self.excess(of: input, beside: step.state.attempts) {
            return [input.discarded(excess)]
        }
        step.state.attempts[index].queue.append(input)
        return commit(&step)
    }

    /// Ends an attempt with these actions. The attempt ends even if the actions cannot be taken.
    private mutating func conclude(
        _ attempt: PendingGuard,
        with actions: [Flow.Action],
        of rule: PreparedRule? = nil,
        _ part: Flow.Guard.Part? = nil,
        input: Input,
        effects: [Effect] = []
    ) -> [Effect] {
        var ended = step(for: input)
        ended.occasion = .answer(to: attempt.message)
        ended.scope = state.run(attempt.run)?.id
        ended.end(attempt)
        ended.effects = effects
        if let rule { ended.begin(rule: rule.keyPath, part) }
        return perform(actions, &ended).began(attempt.message.attributes)
    }
}

// Child flows: the order in which their rules are tried, and the reports of their ends.
extension Machine {
    /// The maximum number of runs that may end in one step, in addition to the number of runs that were open before it.
    /// If more end, ``NavigationFailure/endlessFlows`` is thrown.
    private static let endingLimit = 64

    /// The runs whose rules are tried before the rules of the flow itself.
    ///
    /// For a command from an open screen, these are the run of that screen and the runs in which it began. For any
    /// other message, these are all runs, from the front.
    func runs(for input: Input) -> [FlowRun] {
        guard !state.runs.isEmpty else { return [] }
        if input.isIntent, let sender = state.sender(of: input, on: flow.platform) ?? memory.question(sending: input) {
            return state.lineage(of: sender.run)
        }
        return state.runsFromFront
    }

    /// Lets the rules of the flow that began a run handle the run's end, in the same step. This is repeated until no
    /// more runs end.
    ///
    /// - Throws: The error of a rule whose action cannot be taken, or ``NavigationFailure/endlessFlows``.
    private func tellOfEndings(_ step: inout StateTransaction) throws(NavigationFailure) {
        step.abandonRuns()
        if step.endings.isEmpty { return }
        let origin = step.input
        let open = state.runs.count
        var count = 0
        while !step.endings.isEmpty {
            count += 1
            guard count <= open + Self.endingLimit else { throw .endlessFlows }
            let ending = step.endings.removeFirst()
            // The run that began this run may have ended too. Then no rule handles the end.
            guard ending.run.parent == nil || step.state.run(ending.run.parent) != nil else { continue }
            try tell(of: ending, on: origin, &step)
            step.abandonRuns()
        }
        step.input = origin
    }

    private func tell(of ending: RunEnding, on origin: Input, _ step: inout StateTransaction) throws(NavigationFailure)
    {
        step.input = ending.message(on: origin)
        // Only the rule that ended the child flow may refer to the answer to its guard.
        step.occasion = .message
        step.before = step.state
        step.isLiteral = false
        step.isRequest = false
        step.layer = ending.layer
        guard let match = match(&step, runs: step.state.lineage(of: ending.run.parent)) else { return }
        let former = step.rule
        step.begin(rule: match.rule.keyPath)
        step.rule = former ?? step.rule
        for action in match.rule.transition.actions { try step.apply(action) }
    }

    /// Lets rules handle the ends of the runs that a view's report or a deep link has ended. If such a rule fails, the
    /// report or the link still takes effect.
    private func tellOfReportedEndings(_ step: inout StateTransaction) {
        step.abandonRuns()
        if step.endings.isEmpty { return }
        let former = step
        do {
            try tellOfEndings(&step)
            try step.checkSize(from: state)
        } catch {
            step.reset(to: former)
            step.endings = []
            step.effects.append(.failed(error))
        }
    }
}

// Deep links.
//
// A link to screens that is not discarded is first parked in the state. Each step, including the step that parks the
// link, tries to follow it. A newer link replaces a parked link. If the step that could follow the link carries out a
// newer choice of the user, which the link would undo, the link is discarded.
extension Machine {
    /// The type of the message that delivers a deep link.
    public static let deepLinkReceived = "event.DeepLinkReceived"

    private mutating func receiveLink(_ input: Input) -> [Effect] {
        guard let url = input.data["url"]?.stringValue else { return [input.discarded("the field 'url' is missing")] }
        guard url.utf8.count <= URLParts.lengthLimit else {
            return [input.discarded("the URL exceeds \(URLParts.lengthLimit) bytes")]
        }
        if state.parked?.messageID == input.id { return [] }
        var step = step(for: input)
        switch flow.answer(to: url, in: step.state, onRedirect: { step.tell(Flow.keyPath(ofLink: $0)) }) {
        case .refused(let reason): return step.told + [input.discarded(reason)]
        case .acts(let link):
            step.tell(Flow.keyPath(ofLink: link.prepared.index))
            step.send(link)
            return commit(&step)
        case .waits(let reason, let url, let park, let otherwise):
            step.unpark(Self.replacedReason)
            if let refusal = open(otherwise, &step, or: park == 0 ? reason : nil) { return [input.discarded(refusal)] }
            return park == 0 ? commit(&step) : self.park(url, for: park, step)
        case .followed(let link, let url):
            step.unpark(Self.replacedReason)
            return park(url, for: link.link.park.milliseconds, step)
        }
    }

    private static let replacedReason = "a newer link replaced this link"

    private mutating func park(_ url: String, for milliseconds: Int, _ step: StateTransaction) -> [Effect] {
        var step = step
        let expiry = min((step.input.attributes.time ?? 0) + milliseconds, Int(SafeIntegers.greatest))
        step.state.parked = ParkedLink(
            url: url, messageID: step.input.id, expires: expiry, waiting: step.state.attempts)
        return commit(&step)
    }

    /// Opens the screens for a link that cannot be followed yet.
    ///
    /// - Parameter reason: The reason for discarding a link that does not wait. Nil if the link is parked.
    /// - Returns: The reason for discarding the link. Nil if it is parked, or if the screens are open now.
    private func open(_ link: FollowedLink?, _ step: inout StateTransaction, or reason: String?) -> String? {
        guard let link else { return reason.map(Flow.notNow) }
        if link.isThere(step.state) { return nil }
        switch flow.obstacle(to: link, in: step.state) {
        case .refuses(let refusal): return refusal
        case .waits(let obstacle): return reason.map { _ in Flow.notNow(obstacle) }
        case nil:
            step.follow(link)
            step.begin(rule: Flow.keyPath(ofLink: link.prepared.index))
        }
        return step.state.isTooLarge(from: state) ? NavigationFailure.stateTooLarge.message : nil
    }

    /// The result of trying to follow a parked link.
    private enum Arrival {
        /// The link waits for at most `park` milliseconds.
        case waits(reason: String, park: Int)
        case discarded(reason: String)
        /// The step with the link's screens.
        case followed(StateTransaction)
    }

    /// Follows the parked link if the state of the step admits it.
    ///
    /// If the link ends runs of child flows, rules handle these ends first. The link is then tried once more, in the
    /// resulting state.
    private func followParked(_ step: inout StateTransaction) {
        guard let parked = step.state.parked else { return }
        switch arrival(of: parked, in: step) {
        case .waits: return
        case .discarded(let reason): return step.unpark(reason)
        case .followed(let followed):
            if isChosen(by: step, since: parked, against: followed.state) {
                return step.unpark("the user has since chosen another screen or tab")
            }
            step.abandonRuns(comingTo: followed.state)
            if step.endings.isEmpty { return step.arrive(followed) }
        }
        tellOfReportedEndings(&step)
        guard let parked = step.state.parked else { return }
        switch arrival(of: parked, in: step) {
        case .waits(let reason, park: 0): step.unpark(Flow.notNow(reason))
        case .waits: return
        case .discarded(let reason): step.unpark(reason)
        case .followed(let followed): step.arrive(followed)
        }
    }

    private func arrival(of parked: ParkedLink, in step: StateTransaction) -> Arrival {
        switch flow.answer(to: parked.url, in: step.state, isParked: true) {
        case .refused(let reason): return .discarded(reason: reason)
        case .waits(let reason, _, let park, _): return .waits(reason: reason, park: park)
        case .acts: return .discarded(reason: Flow.notNow("it only sends commands"))
        case .followed(let link, _):
            var followed = step
            followed.state.parked = nil
            followed.follow(link)
            followed.begin(rule: Flow.keyPath(ofLink: link.prepared.index))
            if followed.state.isTooLarge(from: state) {
                return .discarded(reason: NavigationFailure.stateTooLarge.message)
            }
            return .followed(followed)
        }
    }

    /// True if the step carries out a choice that the user made after the link arrived, and the state to which the link
    /// leads would undo it.
    private func isChosen(by step: StateTransaction, since parked: ParkedLink, against next: NavigationState) -> Bool {
        let origin = originatingInput(of: step)
        guard origin.isIntent, parked.older?.contains(origin.id) != true else { return false }
        // Screens that open because of a view's report are not a choice of the user.
        if let tab = step.state.selectedTab, step.state.root.instance.id == state.root.instance.id,
            tab != state.selectedTab, tab != next.selectedTab
        {
            return true
        }
        // With the button of an alert, the user chooses what its actions open.
        let report = ViewReport(rawValue: origin.type)
        guard report == nil || report == .alertAnswered else { return false }
        return !step.state.opened(since: state).allSatisfy(next.isOpen)
    }

    /// The message with which the user made the choice that the step carries out. If the step's message is the answer
    /// to a guard, the choice was made with the message that the guard's rule matched.
    private func originatingInput(of step: StateTransaction) -> Input {
        guard let attempt = state.attempts.first(where: { $0.id == step.input.attributes.causationID }),
            !step.state.attempts.contains(where: { $0.id == attempt.id })
        else { return step.input }
        return attempt.message
    }
}

extension StateTransaction {
    /// Goes on with the step in which a link has been followed. The runs that it ends have been reported.
    fileprivate mutating func arrive(_ followed: StateTransaction) {
        self = followed
        abandonRuns()
        endings = []
    }
}

extension NavigationState {
    fileprivate var selectedTab: String? { root.container?.selectedTab }

    /// The ids of the instances that were pushed, shown or presented since the former state. A new root and the first
    /// screens of its tabs or columns do not count.
    fileprivate func opened(since former: NavigationState) -> Set<String> {
        var opened = Set(open.map(\.id)).subtracting(former.open.map(\.id))
        if opened.remove(root.instance.id) != nil {
            opened.subtract((root.container?.stacks ?? []).map(\.instance.id))
        }
        return opened
    }
}

extension Machine {
    /// The reason for which a command is discarded after its expiry time.
    package static let expiredReason = "expired"
}

extension Machine.Input {
    package func discarded(_ reason: String) -> Machine.Effect {
        .messageDiscarded(messageID: id, reason: "\(type): \(reason)")
    }

    /// The record of the departure that this report causes. A repetition of the report is recognized by it.
    func departure(of instance: String) -> NavigationMemory.Departure {
        let button = type == ViewReport.alertAnswered.rawValue ? data["button"]?.stringValue : nil
        let report = NavigationMemory.Departure.reports[type] ?? type
        return NavigationMemory.Departure(instance: instance, report: report, button: button)
    }

    /// True if the message is a command.
    var isIntent: Bool { type.begins(with: "command.") }

    /// True if the message requests an action, which needs no rule.
    fileprivate var isNavigationRequest: Bool { type == Flow.requestType }
}

extension [Machine.Effect] {
    /// These effects, preceded by the attributes of the message that began them. Empty if there are no effects.
    func began(_ attributes: Machine.Attributes) -> [Machine.Effect] {
        isEmpty ? [] : [.began(attributes)] + self
    }
}
