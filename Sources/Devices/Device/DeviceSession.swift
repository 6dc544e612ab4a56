public import Contracts
public import EventBus
import FlowFiles
public import Navigation
import Support

/// The names of a device on the bus.
public struct DeviceIdentity: Hashable, Sendable {
    public var platform: String
    /// Tells it from other devices of the platform.
    public var device: String
    /// The session, one user's app.
    public var subject: String
    /// The process, `name/instance`.
    public var source: String

    public init(platform: String, device: String, subject: String = Session.default, source: String) {
        self.platform = platform
        self.device = device
        self.subject = subject
        self.source = source
    }

    /// Wraps a message of this device.
    /// - Parameter instance: the screen that it comes from.
    /// - Throws: ``BusError`` if it cannot be written as JSON.
    func envelope(_ message: some Message, instance: String?) throws -> Envelope {
        let origin = Origin(platform: platform, device: device, instance: instance)
        return try Envelope(message, source: source, subject: subject, origin: origin)
    }

    /// Whether a message is for this device: for its platform, and for no other device of it.
    func isAddressed(by message: Envelope) -> Bool {
        message.attributes.platform == platform && [nil, device].contains(message.attributes.device)
    }
}

/// A device as a value: messages and what a person chooses go in, what is to be done comes out.
///
/// It draws nothing, reads no keys and has no connection: a terminal, a page or a native view hands it inputs one after
/// the other, does what its outputs say, and draws its ``scene``.
///
///     var session = DeviceSession(identity, commandLifetime: .seconds(60))
///     for output in try session.handle(.message(envelope)) { … }
public struct DeviceSession: Sendable {
    public enum Input: Sendable {
        /// The subscription to ``DeviceSession/filters`` is live.
        case attached
        case message(Envelope)
        /// What the person has chosen on the scene.
        case choice(Choice)
    }

    public enum Output: Sendable {
        /// The scene has changed.
        case draw
        /// Something to tell the person, besides the scene.
        case say(String)
        case publish(Envelope)
        /// A URL was requested for this device.
        case openURL(String)
        /// The last choice has been acted upon.
        case answered
        /// Something on the bus could not be read.
        case unreadable(BusError)
    }

    /// A choice whose message was published.
    private struct Pick {
        let choice: Choice
        /// The id of its message.
        let id: String
        var isAnswered = false
    }

    public let identity: DeviceIdentity
    private let screens: AppScreens?
    private let commandLifetime: Duration
    private let keepsRequestedURL: Bool
    /// The flow that was given in advance: the one that is published does not count.
    private let givenFlow: Flow?
    /// The flow that the platform's coordinator publishes.
    private var publishedFlow: Flow?
    private var snapshot: NavigationSnapshot?
    private var documents: LatestDocuments
    /// What was requested last for this device, until a person picks something else or has got on.
    private var requestedURL: OpenableURL?
    /// The message that led to the request.
    private var requestCause: String?
    private var displayedRevision: Int?
    private var goneInstances: Set<String> = []
    private var lastPick: Pick?

    /// - Parameters:
    ///   - flow: what is said of screens without a view model; nil: the flow that the platform's coordinator publishes.
    ///   - screens: those that the app draws itself.
    ///   - commandLifetime: after this, what the person wanted is not carried out any more.
    ///   - keepsRequestedURL: whether a URL that was requested is kept when another part of the app is shown.
    public init(
        _ identity: DeviceIdentity, flow: Flow? = nil, screens: AppScreens? = nil, commandLifetime: Duration,
        keepsRequestedURL: Bool = false
    ) {
        self.identity = identity
        givenFlow = flow
        self.screens = screens
        self.commandLifetime = commandLifetime
        self.keepsRequestedURL = keepsRequestedURL
        documents = LatestDocuments(of: screens?.documents ?? [])
    }

    /// What there is to show; nil until the platform's coordinator has said where it is.
    public var scene: Scene? {
        snapshot.map { snapshot in
            Scene(
                snapshot, documents: documents, flow: givenFlow ?? publishedFlow, screens: screens,
                requestedURL: requestedURL)
        }
    }

    /// - Throws: ``BusError`` if a message cannot be written as JSON.
    public mutating func handle(_ input: Input) throws -> [Output] {
        switch input {
        case .attached:
            return [.publish(try identity.envelope(DomainEvent.LaunchFinished(), instance: nil))]
        case .message(let message):
            let outputs = try receive(message)
            return outputs + (isAnswered(by: message) ? [.answered] : [])
        case .choice(let choice):
            let message = try choice.envelope(from: identity, lifetime: commandLifetime)
            lastPick = Pick(choice: choice, id: message.id)
            // Closing a banner does not answer the request.
            if choice.outcome != .closedBanner { requestedURL = nil }
            return [.publish(message)]
        }
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
            return try documents.receive(message) ? [.draw] : try notices(of: message)
        } catch let error as BusError where error.code == .malformed {
            return [.unreadable(error)]
        }
    }

    private mutating func receive(state message: Envelope) throws -> [Output] {
        let root = snapshot?.state.root.instance.id
        snapshot = message.isTombstone ? nil : try message.decode(Document.NavigationState.self).snapshot
        // Another root is another part of the app: after a log-in nobody wants its URL any more, which takes a good part
        // of a small view. It stays if both come of one message.
        let hasLeft = root != snapshot?.state.root.instance.id
        if hasLeft, !keepsRequestedURL, message.attributes.causationID != requestCause { requestedURL = nil }
        return try [.draw] + reports()
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

    /// What a view tells of its own accord, to be sent once the scene is drawn. It has no animation: what is leaving
    /// is gone at once.
    private mutating func reports() throws -> [Output] {
        guard let snapshot else { return [] }
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

    /// What else concerns the person in front of this device.
    private mutating func notices(of message: Envelope) throws -> [Output] {
        switch message.type {
        case DomainEvent.URLOpenRequested.type where identity.isAddressed(by: message):
            let url = try message.decode(DomainEvent.URLOpenRequested.self).url
            requestedURL = OpenableURL(url)
            requestCause = message.attributes.causationID
            return [.openURL(url)]
        case DomainEvent.MessageDiscarded.type:
            let discarded = try message.decode(DomainEvent.MessageDiscarded.self)
            return discarded.messageID == lastPick?.id ? [.say("That came too late: \(discarded.reason)")] : []
        default:
            return notice(message.type).map { [.say($0.text)] } ?? []
        }
    }

    private func notice(_ type: MessageType) -> AppScreens.Notice? {
        screens?.notices.first { $0.event.type == type }
    }

    /// Whether a message is the first that shows that the last choice was acted upon. A change alone does not: the state
    /// also changes by other views, and by this one's own reports.
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
            // A guard that waits for its answer has not acted upon it yet.
            return snapshot?.state.attempt?.message.id != pick.id
        case let type where type.kind == .document: return outcome == .anything
        case let type: return outcome == .navigation && notice(type) != nil
        }
    }
}

// MARK: Vocabulary

extension DeviceSession {
    private static let received: [any Message.Type] = [
        Document.NavigationState.self, Document.Flow.self, Document.ErrorBanner.self, DomainEvent.URLOpenRequested.self,
        DomainEvent.MessageDiscarded.self, ApplicationError.self,
    ]
    private static let sent: [any Message.Type] = [
        DomainEvent.LaunchFinished.self, Command.ScreenDisplayed.self, Command.ScreenGone.self,
        Command.BackCompleted.self, Command.PresentationDismissed.self, Command.AlertAnswered.self,
        Command.TabSelected.self, Command.ErrorDismissed.self,
    ]

    /// What to subscribe to: all documents of the session, of which screens that nobody has drawn show whatever there is,
    /// and the flows, which all sessions share.
    public var filters: [MessageFilter] {
        let events = (Self.received + (screens?.notices.map { $0.event } ?? [])).types.filter { $0.kind != .document }
        let flows = identity.subject == Session.default ? [] : [Document.Flow.type]
        return [.kind(.document, subject: identity.subject)] + flows.map { .type($0, subject: Session.default) }
            + events.map { .type($0, subject: identity.subject) }
    }

    /// What a device receives, as its process declares it.
    /// - Parameters:
    ///   - flow: the one that it shows, if it is known; what belongs to the screens of an app concerns only its flows.
    ///   - screens: those that the app draws itself.
    public static func receives(flow: Flow?, screens: AppScreens?) -> [DeclaredMessage] {
        let screens = screens.flatMap { [nil, $0.flow].contains(flow?.name) ? $0 : nil }
        let own: [any Message.Type] = (screens?.documents ?? []) + (screens?.notices.map { $0.event } ?? [])
        return (received + own).map { DeclaredMessage($0) }
    }

    /// What a device sends: with the commands of the app's screens, and of the flow's.
    public static func sends(flow: Flow?, screens: AppScreens?) -> [DeclaredMessage] {
        let screens = screens.flatMap { [nil, $0.flow].contains(flow?.name) ? $0 : nil }
        let known = sent + (screens?.commands ?? [])
        let types = Set(flow?.screens.values.flatMap(\.sends) ?? []).sorted().compactMap { MessageType($0) }
        return known.map { DeclaredMessage($0) }
            + types.filter { !known.types.contains($0) }.map { DeclaredMessage($0) }
    }
}
