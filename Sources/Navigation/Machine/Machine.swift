/// A flow in motion: it takes the messages of one session and says what an app shall show.
///
/// It is a value and has no clock, no chance and no connection to anything: the same inputs lead to the same state,
/// effects and snapshot. A host feeds it the messages in the order of the bus and does what it asks for.
///
/// - Views' reports are its own business; see `Machine+Reports.swift` for what each changes.
/// - An action that a view asks for is taken when the flow allows it; see `Machine+Requests.swift`.
/// - Deep links lead where the flow's `links` say; see `Machine+Links.swift`.
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
    mutating func take(_ match: Match, _ step: Step) -> [Effect] {
        var step = step
        step.scope = match.run?.id
        if let condition = match.transition.guard { return begin(match.transition, condition, step) }
        return perform(match.transition.actions, step)
    }

    /// Takes all of the actions as one step or, when one cannot be taken, none.
    mutating func perform(_ actions: [Flow.Action], _ step: Step) -> [Effect] {
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

    func step(for input: Input) -> Step {
        var step = Step(flow: flow, input: input, before: state, memory: memory)
        step.unparkExpired()
        return step
    }

    /// Makes a step's outcome the machine's.
    mutating func commit(_ step: Step) -> [Effect] {
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
}
