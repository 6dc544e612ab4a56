/// A flow in motion: it takes the messages of one session and says what an app shall show.
///
/// It is a value and has no clock, no chance and no connection to anything: the same inputs lead to the same state,
/// effects and snapshot. A host feeds it the messages in the order of the bus and does what it asks for.
///
/// - Views' reports are its own business; see `Machine+Reports.swift` for what each changes.
/// - Deep links lead where the flow's `links` say; see `Machine+Links.swift`.
/// - Any other message is met with the first rule of the flow that matches. That no rule matches is normal.
/// - A command from a screen that has been dismissed comes too late: it is discarded, visibly.
///
/// The latter, deep links and the reports concern only messages of the machine's own platform, and those that name no
/// platform: another platform's instances are unknown here.
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
        let effects = answer(input)
        // Time passes, and states change with a changed flow, also where the message itself changes nothing.
        return state.parked == nil ? effects : effects + commit(step(for: input))
    }

    private mutating func answer(_ input: Input) -> [Effect] {
        if let report = ViewReport(rawValue: input.type) {
            return isOwn(input) ? handle(report, input) : []
        }
        if let instance = lateInstance(of: input) {
            return [input.discarded("no screen instance '\(instance)' stands")]
        }
        if input.type == Self.deepLinkReceived, !flow.links.isEmpty { return isOwn(input) ? receiveLink(input) : [] }
        guard let transition = transition(for: input) else { return [] }
        var step = step(for: input)
        do {
            for action in transition.actions { try step.apply(action) }
        } catch {
            return [.failed(error)]
        }
        return commit(step)
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
        var step = Step(input: input, before: state, memory: memory)
        step.unparkExpired()
        return step
    }

    /// Makes a step's outcome the machine's.
    mutating func commit(_ step: Step) -> [Effect] {
        var step = step
        followParked(&step)
        if step.state != state {
            state = step.state
            memory = step.memory
            revision += 1
            cause = step.input.id
        }
        return step.effects
    }
}
