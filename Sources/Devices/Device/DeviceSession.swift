public import Contracts
public import EventBus
import FlowFiles
public import Navigation
public import Support

/// The names of a device on the bus.
public struct DeviceIdentity: Hashable, Sendable {
    public var platform: String
    /// The name of the device, unique among the devices of the platform.
    public var device: String
    /// The session: one user's app.
    public var subject: String
    /// The name and instance of the process: `name/instance`.
    public var source: String

    public init(platform: String, device: String, subject: String = Session.default, source: String) {
        self.platform = platform
        self.device = device
        self.subject = subject
        self.source = source
    }

    /// An envelope for a message of this device.
    /// - Parameter instance: The id of the screen instance that sends it. Nil if the device itself sends it.
    /// - Throws: ``BusError`` if the message cannot be encoded as JSON.
    func envelope(_ message: some Message, instance: String?) throws -> Envelope {
        let origin = Origin(platform: platform, device: device, instance: instance)
        return try Envelope(message, source: source, subject: subject, origin: origin)
    }

    /// True if a message is for the device's platform, and names this device or no device.
    func isAddressed(by message: Envelope) -> Bool {
        message.attributes.platform == platform && [nil, device].contains(message.attributes.device)
    }
}

/// The state of a device. The inputs are messages and the choices of a person; the outputs are actions for a view.
///
/// A session does not draw, read keys or connect to the bus. A view (a terminal, a web page, a native view) passes the
/// inputs to the session one after the other, carries out the outputs, and draws the ``scene``.
///
///     var session = DeviceSession(identity, commandLifetime: .seconds(60))
///     for output in try session.handle(.message(envelope)) { … }
public struct DeviceSession: Sendable {
    public enum Input: Sendable {
        /// The subscription to ``DeviceSession/filters`` is live.
        case attached
        case message(Envelope)
        /// The person has made this choice on the scene.
        case choice(Choice)
        /// A view that animates its screens reports what it shows, or what the person did.
        case report(Report)
        /// The answer to the query of this id, or the error for which there is none.
        case answer(Result<Envelope, any Error>, to: String)
    }

    /// The report of a view that animates its screens. Reports can be repeated.
    public enum Report: Hashable, Sendable {
        /// The state with this revision is displayed, and its animations have ended.
        case displayed(revision: Int)
        /// The animation with which a screen leaves has ended.
        case gone(instance: String)
        /// The person has begun to swipe back, on the screen that would leave.
        case backStarted(instance: String)
        case backCancelled(instance: String)
        case backCompleted(instance: String)
        /// The person has dismissed a presentation.
        case dismissed(instance: String)
        case tabSelected(instance: String, tab: String)
    }

    public enum Output: Sendable {
        /// Draw the scene, which may have changed.
        case draw
        /// A text to show to the person in addition to the scene.
        case say(String)
        case publish(Envelope)
        /// Ask this query, and pass its answer to the session. Do not wait for the answer before the next input.
        case ask(Envelope)
        /// This device was requested to open the URL.
        case openURL(String)
        /// The last choice has been acted upon, has failed, or was discarded.
        case answered
        /// The choice was not sent, because its data does not match the contracts of the services. A text to show to
        /// the person.
        case refused(String)
        /// A message could not be read. The scene has not changed. If the message was a state, a ``say(_:)`` follows.
        case unreadable(BusError)
    }

    /// A choice that the person has made.
    private struct Pick {
        let choice: Choice
        /// The id of the choice's message.
        let id: String
        var isAnswered = false
    }

    /// The maximum number of open and leaving screens in a state. A state with more screens is not drawn.
    private static let screenLimit = 256
    /// The maximum ``JSONValue/decodingCost(depth:)`` of a state. Decoding such a state takes about a second.
    private static let costLimit = 100_000

    public let identity: DeviceIdentity
    private let screens: AppScreens?
    private let commandLifetime: Duration
    private let keepsRequestedURL: Bool
    private let isAnimated: Bool
    private let beginsSession: Bool
    /// The flow that was passed to the initialiser. It has priority over `publishedFlow`. Nil if none was passed.
    private let givenFlow: Flow?
    /// The flow that the platform's coordinator publishes. Nil if there is none, or if it was withdrawn.
    private var publishedFlow: Flow?
    /// The state that the platform's coordinator published last. Nil if there is none, or if it was withdrawn.
    private var snapshot: NavigationSnapshot?
    private var documents: LatestDocuments
    private var contracts = ReceivedContracts()
    /// The URL that the device was last requested to open. Nil if there is none, if it must not be opened, or after a
    /// choice or a new root has removed it.
    private var requestedURL: OpenableURL?
    /// The id of the message that caused the last request to open a URL. Nil if there is none.
    private var requestCause: String?
    /// The revision that was last reported as displayed. Nil if no revision was reported.
    private var displayedRevision: Int?
    /// The ids of the leaving screen instances that were reported as gone.
    private var goneInstances: Set<String> = []
    /// Nil if the person has not made a choice yet.
    private var lastPick: Pick?

    /// - Parameters:
    ///   - flow: The flow by which screens without a view model are drawn. Nil for the flow that the platform's
    ///     coordinator publishes.
    ///   - screens: The screens with view models. Nil if no screen has a view model.
    ///   - commandLifetime: The time after which a person's command expires, unless it is a report.
    ///   - keepsRequestedURL: True if a new root does not remove a requested URL. A choice still removes it.
    ///   - isAnimated: True if the view animates its screens and passes a ``Report`` for each. Otherwise the session
    ///     itself reports each state as displayed, and leaving screens as gone.
    ///   - beginsSession: False if the device continues after an interruption, so that no launch is reported.
    public init(
        _ identity: DeviceIdentity, flow: Flow? = nil, screens: AppScreens? = nil, commandLifetime: Duration,
        keepsRequestedURL: Bool = false, isAnimated: Bool = false, beginsSession: Bool = true
    ) {
        self.identity = identity
        givenFlow = flow
        self.screens = screens
        self.commandLifetime = commandLifetime
        self.keepsRequestedURL = keepsRequestedURL
        self.isAnimated = isAnimated
        self.beginsSession = beginsSession
        documents = LatestDocuments(of: screens?.documents ?? [])
    }

    /// True if the last choice has failed with an error, and the error notifier has not yet answered with a banner.
    package private(set) var awaitsBanner = false

    /// The scene to draw. Nil if the platform's coordinator has not published a state, or has withdrawn it.
    public var scene: Scene? {
        snapshot.map { snapshot in
            Scene(
                snapshot, documents: documents, flow: givenFlow ?? publishedFlow, screens: screens,
                requestedURL: requestedURL)
        }
    }

    /// Changes the state by an input.
    /// - Returns: The outputs for the view, to be carried out in order.
    /// - Throws: `BusError` if a message cannot be encoded as JSON.
    public mutating func handle(_ input: Input) throws -> [Output] {
        switch input {
        case .attached:
            return !beginsSession ? [] : [.publish(try identity.envelope(DomainEvent.LaunchFinished(), instance: nil))]
        case .message(let message):
            let outputs = try receive(message)
            followError(message)
            return outputs + (isAnswered(by: message) ? [.answered] : [])
        case .choice(let choice):
            let message = try choice.envelope(from: identity, lifetime: commandLifetime)
            // Only a command without a Swift type may have invalid data.
            if choice.takesFields, let mistake = contracts.mistake(in: message) { return [.refused(mistake)] }
            lastPick = Pick(choice: choice, id: message.id)
            awaitsBanner = false
            if case .query(let query, let document) = choice.content {
                documents.questions.ask(query, about: document, id: message.id)
                return [.ask(message), .draw]
            }
            // A person who closes a banner may still want to open the URL.
            if choice.outcome != .closedBanner { requestedURL = nil }
            return [.publish(message)]
        case .report(let report):
            return try message(of: report).map { [.publish($0)] } ?? []
        case .answer(let answer, let id):
            return receive(answer, to: id)
        }
    }

    /// The schema of a command's data, for a form. Nil if no contract on the bus describes the command.
    public func schema(of command: MessageType) -> JSONSchema? { contracts.schema(of: command) }

    /// True if a contract on the bus says that its process receives a type.
    package func isReceived(_ type: MessageType) -> Bool { contracts.contains(type) }

    private mutating func receive(_ answer: Result<Envelope, any Error>, to id: String) -> [Output] {
        var outputs = [Output.draw]
        do {
            try documents.questions.receive(answer, to: id)
        } catch let error as ApplicationError {
            outputs.append(.say([error.message, error.recovery].compactMap(\.self).joined(separator: " · ")))
        } catch {
            outputs.append(.say((error as? BusError)?.message ?? "\(error)"))
        }
        guard let pick = lastPick, pick.id == id, !pick.isAnswered else { return outputs }
        lastPick?.isAnswered = true
        return outputs + [.answered]
    }

    private mutating func receive(_ message: Envelope) throws -> [Output] {
        do {
            if message.type == Document.NavigationState.type, message.attributes.key == identity.platform {
                return try receive(state: message)
            }
            if message.type == Document.Flow.type, message.attributes.key == identity.platform {
                publishedFlow = try flow(in: message)
                return [.draw]
            }
            if message.type == Document.ServiceContract.type {
                try contracts.receive(message)
                return []
            }
            return try documents.receive(message) ? [.draw] : try notices(of: message)
        } catch let error as BusError where error.code == .malformed {
            // Otherwise a person would take the former screens for the current ones.
            let isState = message.type == Document.NavigationState.type
            return [.unreadable(error)] + (isState ? [.say("The screens are out of date: \(error.message)")] : [])
        }
    }

    private mutating func receive(state message: Envelope) throws -> [Output] {
        let root = snapshot?.state.root.instance.id
        snapshot = try snapshot(in: message)
        // A new root removes the requested URL, except if `keepsRequestedURL` is true or if one message caused both the
        // request and the new root.
        let hasLeft = root != snapshot?.state.root.instance.id
        if hasLeft, !keepsRequestedURL, message.attributes.causationID != requestCause { requestedURL = nil }
        return try [.draw] + reports()
    }

    /// Reads a state, and checks that it can be drawn.
    private func snapshot(in message: Envelope) throws -> NavigationSnapshot? {
        if message.isTombstone { return nil }
        // JSON that cannot be parsed is refused below.
        guard (try? JSONValue(parsing: message.data))?.decodingCost() ?? 0 <= Self.costLimit else {
            throw BusError(.malformed, "\(message.type) \(message.id) is nested too deeply")
        }
        let snapshot = try message.decode(Document.NavigationState.self).snapshot
        let open = snapshot.state.open
        let count = open.count + snapshot.state.leaving.count
        guard count <= Self.screenLimit else {
            throw BusError(
                .malformed,
                "\(message.type) \(message.id) has \(count) screens; a device shows at most \(Self.screenLimit)")
        }
        var ids: Set<String> = []
        if let second = open.first(where: { !ids.insert($0.id).inserted }) {
            throw BusError(
                .malformed, "\(message.type) \(message.id) has two screens with the id '\(second.id.prefix(100))'")
        }
        return snapshot
    }

    /// Reads the flow that a coordinator publishes.
    private func flow(in message: Envelope) throws -> Flow? {
        if message.isTombstone { return nil }
        do {
            let document = try message.decode(Document.Flow.self)
            return try Flow(yaml: document.source, file: "\(message.type) \(document.platform)")
        } catch let error as FlowError {
            throw BusError(.malformed, "\(message.type) \(message.id) has a flow that cannot be read: \(error)")
        }
    }

    /// The message of a view's report. Nil for a report that needs no message, because it repeats an earlier one.
    private mutating func message(of report: Report) throws -> Envelope? {
        switch report {
        case .displayed(let revision):
            guard revision != displayedRevision else { return nil }
            displayedRevision = revision
            return try identity.envelope(
                Command.ScreenDisplayed(revision: revision), instance: snapshot?.state.top.id)
        case .gone(let instance):
            let leaving = Set(snapshot?.state.leaving.map(\.id) ?? [])
            goneInstances.formIntersection(leaving)
            guard leaving.contains(instance), goneInstances.insert(instance).inserted else { return nil }
            return try identity.envelope(Command.ScreenGone(instance: instance), instance: instance)
        case .backStarted(let instance):
            return try identity.envelope(Command.BackStarted(instance: instance), instance: instance)
        case .backCancelled(let instance):
            return try identity.envelope(Command.BackCancelled(instance: instance), instance: instance)
        case .backCompleted(let instance):
            return try identity.envelope(Command.BackCompleted(instance: instance), instance: instance)
        case .dismissed(let instance):
            return try identity.envelope(Command.PresentationDismissed(instance: instance), instance: instance)
        case .tabSelected(let instance, let tab):
            return try identity.envelope(Command.TabSelected(instance: instance, tab: tab), instance: instance)
        }
    }

    /// The view's reports about its screens, to be sent after the scene has been drawn. There are no animations, so
    /// screens that leave are reported as gone immediately.
    private mutating func reports() throws -> [Output] {
        guard let snapshot, !isAnimated else { return [] }
        var reports: [Envelope] = []
        if snapshot.revision != displayedRevision {
            displayedRevision = snapshot.revision
            let top = snapshot.state.top.id
            reports.append(
                try identity.envelope(Command.ScreenDisplayed(revision: snapshot.revision), instance: top))
        }
        let leaving = snapshot.state.leaving.map(\.id)
        for instance in leaving where !goneInstances.contains(instance) {
            reports.append(try identity.envelope(Command.ScreenGone(instance: instance), instance: instance))
        }
        goneInstances = Set(leaving)
        return reports.map(Output.publish)
    }

    /// The outputs for other messages that concern the person: requests to open a URL, discarded messages, and events
    /// with an ``AppScreens/Notice``.
    private mutating func notices(of message: Envelope) throws -> [Output] {
        switch message.type {
        case DomainEvent.URLOpenRequested.type where identity.isAddressed(by: message):
            let url = try message.decode(DomainEvent.URLOpenRequested.self).url
            requestedURL = OpenableURL(url)
            requestCause = message.attributes.causationID
            return [.openURL(url)]
        case DomainEvent.MessageDiscarded.type:
            let discarded = try message.decode(DomainEvent.MessageDiscarded.self)
            return discarded.messageID == lastPick?.id ? [.say("Your choice was ignored: \(discarded.reason)")] : []
        default:
            return notice(message.type).map { [.say($0.text)] } ?? []
        }
    }

    private func notice(_ type: MessageType) -> AppScreens.Notice? {
        screens?.notices.first { $0.event.type == type }
    }

    /// Records that the last choice has failed with an error, and that the banner with the error has arrived.
    private mutating func followError(_ message: Envelope) {
        guard let pick = lastPick, message.attributes.correlationID == pick.id else { return }
        if message.type == ApplicationError.type { awaitsBanner = true }
        if [Document.ErrorBanner.type, DomainEvent.MessageDiscarded.type].contains(message.type) {
            awaitsBanner = false
        }
    }

    /// True if the message is the first one that shows that the last choice has been acted upon. A new state shows this
    /// only if it has the choice's correlation id.
    private mutating func isAnswered(by message: Envelope) -> Bool {
        guard let pick = lastPick, !pick.isAnswered, isAnswer(message, to: pick) else { return false }
        lastPick?.isAnswered = true
        return true
    }

    private func isAnswer(_ message: Envelope, to pick: Pick) -> Bool {
        let outcome = pick.choice.outcome
        if outcome == .closedBanner, message.type == Document.ErrorBanner.type {
            let shown = documents[Document.ErrorBanner.self]?.errorID
            return shown != (pick.choice.command as? Command.ErrorDismissed)?.errorID
        }
        guard message.attributes.correlationID == pick.id else { return false }
        switch message.type {
        case ApplicationError.type, DomainEvent.MessageDiscarded.type: return true
        case DomainEvent.URLOpenRequested.type:
            return outcome != .closedBanner && identity.isAddressed(by: message)
        case Document.NavigationState.type:
            guard [.navigation, .anything].contains(outcome), message.attributes.key == identity.platform else {
                return false
            }
            // While a guard waits for its answer, the choice has not been acted upon.
            return snapshot?.state.attempts.contains { $0.message.id == pick.id } != true
        case let type where type.kind == .document: return outcome == .anything
        case let type: return outcome == .navigation && notice(type) != nil
        }
    }
}

extension JSONValue {
    /// The sum of the depths of all values that are not strings.
    ///
    /// An argument of a screen can be any JSON. Its decoding first tries whether each value is a string, and each
    /// failed attempt takes time that grows with the depth. A few megabytes of nested lists could take hours.
    fileprivate func decodingCost(depth: Int = 1) -> Int {
        switch self {
        case .string: 0
        case .array(let elements): elements.reduce(depth) { $0 + $1.decodingCost(depth: depth + 1) }
        case .object(let members): members.values.reduce(depth) { $0 + $1.decodingCost(depth: depth + 1) }
        default: depth
        }
    }
}

// MARK: Vocabulary

extension DeviceSession {
    private static let received: [any Message.Type] = [
        Document.NavigationState.self, Document.Flow.self, Document.ServiceContract.self, Document.ErrorBanner.self,
        DomainEvent.URLOpenRequested.self, DomainEvent.MessageDiscarded.self, ApplicationError.self,
    ]
    private static let sent: [any Message.Type] = [
        DomainEvent.LaunchFinished.self, Command.ScreenDisplayed.self, Command.ScreenGone.self,
        Command.BackStarted.self, Command.BackCancelled.self, Command.BackCompleted.self,
        Command.PresentationDismissed.self, Command.AlertAnswered.self,
        Command.TabSelected.self, Command.ErrorDismissed.self,
    ]

    /// The filters for the device's subscription. They match the documents of the session, the flows and contracts of
    /// the default session, and the events and errors that concern the device.
    public var filters: [MessageFilter] {
        let events = (Self.received + (screens?.notices.map { $0.event } ?? [])).types.filter { $0.kind != .document }
        let shared =
            identity.subject == Session.default ? [] : [Document.Flow.type, Document.ServiceContract.type]
        return [.kind(.document, subject: identity.subject)] + shared.map { .type($0, subject: Session.default) }
            + events.map { .type($0, subject: identity.subject) }
    }

    /// The messages that a device receives, for the contract of its process.
    /// - Parameters:
    ///   - flow: The flow that the device shows. Nil if it is not known.
    ///   - screens: The screens with view models. Their messages are left out if `flow` is the flow of another app. Nil
    ///     if no screen has a view model.
    public static func receives(flow: Flow?, screens: AppScreens?) -> [DeclaredMessage] {
        let screens = screens.flatMap { [nil, $0.flow].contains(flow?.name) ? $0 : nil }
        let own: [any Message.Type] = (screens?.documents ?? []) + (screens?.notices.map { $0.event } ?? [])
        return (received + own).map { DeclaredMessage($0) }
    }

    /// The messages that a device sends, for the contract of its process. They include the commands of the view models
    /// and of the flow's screens, and the queries that the view models ask.
    /// - Parameters:
    ///   - flow: The flow that the device shows. Nil if it is not known.
    ///   - screens: The screens with view models. Their commands are left out if `flow` is the flow of another app. Nil
    ///     if no screen has a view model.
    public static func sends(flow: Flow?, screens: AppScreens?) -> [DeclaredMessage] {
        let screens = screens.flatMap { [nil, $0.flow].contains(flow?.name) ? $0 : nil }
        let asked: [any Message.Type] = screens?.queries ?? []
        let known = sent + (screens?.commands ?? []) + asked
        let types = Set(flow?.screens.values.flatMap(\.sends) ?? []).sorted().compactMap { MessageType($0) }
        return known.map { DeclaredMessage($0) }
            + types.filter { !known.types.contains($0) }.map { DeclaredMessage($0, in: flow) }
    }
}
