internal import Contracts
package import EventBus
internal import Foundation
internal import Navigation
internal import Support

/// The messages of a recording that a replay sends, and the changes to them.
package struct ReplayPlan: Sendable {
    package var stretch = RecordingStretch()
    /// A message is sent only if its type matches one of these patterns. Empty for all types.
    package var types: [MessagePattern] = []
    /// True if the replay also sends the messages with the role ``ReplayRole/result``.
    package var sendsResults = false
    package var remapping = Remapping()
    package var identity = ReplayIdentity.same

    package init() {}

    package enum Step: Sendable {
        case send(Envelope)
        /// Wait for the message with this id, a result of earlier messages.
        case await(id: String)
        /// The document with this id is a result of earlier messages. At its end, the replay waits for the last such
        /// document of each type, subject and key.
        case expect(id: String)
        case skip
    }

    /// The step for a message of the recording.
    /// - Parameter survey: The survey of the recording that contains `recorded`.
    func step(of recorded: RecordedMessage, _ survey: ReplaySurvey, now: Date = Timestamp.now) -> Step {
        let role = ReplayRole(of: recorded.message)
        guard role == .input || role == .result && sendsResults else {
            return role == .result ? result(recorded.message) : .skip
        }
        guard isWanted(recorded.message.type) else { return .skip }
        var message = recorded.message
        renew(&message, survey: survey, now: now)
        identity.apply(to: &message, now: now, isKnown: survey.ids.contains)
        remapping.apply(to: &message)
        return .send(message)
    }

    /// True if the plan's types include this type.
    func isWanted(_ type: MessageType) -> Bool {
        types.isEmpty || types.contains { $0.matches(type) }
    }

    /// Gives a command its recorded lifetime, counted from now. A command that expired in the recording keeps its
    /// expiry time.
    private func renew(_ message: inout Envelope, survey: ReplaySurvey, now: Date) {
        guard let expiry = message.attributes.expiryTime, !survey.expired.contains(message.id) else { return }
        let lifetime = expiry.timeIntervalSince(message.attributes.time)
        message.attributes.expiryTime = now.addingTimeInterval(max(0, lifetime))
    }

    /// The step for a result that is not sent. It is `skip` if the plan selects types or changes platforms or types, or
    /// if the result's id is not derived from the id of its cause.
    private func result(_ message: Envelope) -> Step {
        guard types.isEmpty, remapping.keepsResults, message.hasDerivedID else { return .skip }
        var id = message.id
        if case .new(let prefix) = identity { id = prefix + id }
        return message.type.kind == .document ? .expect(id: id) : .await(id: id)
    }
}

/// The facts about the whole recording that a replay needs before it sends the first message.
package struct ReplaySurvey: Sendable {
    /// The number of messages that the plan sends.
    package private(set) var count = 0
    /// The number of the last line if the recording ends in the middle of this line. Nil if the last line is complete.
    package private(set) var cutOffLine: Int?
    /// The names of the coordinators whose flows or states were recorded.
    package private(set) var names = CoordinatorNames()
    /// The ids of all messages. Empty if the plan does not change ids.
    private(set) var ids: Set<String> = []
    /// The ids of the commands that expired in the recording.
    private(set) var expired: Set<String> = []

    /// Reads the whole recording.
    /// - Throws: ``RecordingError`` if the file cannot be read, a line is not valid, or ``RecordingStretch/missing`` is
    ///   not nil for the plan's stretch.
    package init(of recording: Recording, _ plan: ReplayPlan) async throws {
        var stretch = plan.stretch
        try await recording.read { entry in
            switch entry {
            case .message(let recorded): add(recorded, at: stretch.place(of: recorded), plan: plan)
            case .mistake(let mistake): throw recording.error(mistake)
            case .cutOff(let line): cutOffLine = line
            case .header, .end: break
            }
            return false
        }
        if let missing = stretch.missing { throw recording.missing(missing) }
    }

    private mutating func add(_ recorded: RecordedMessage, at place: RecordingStretch.Place, plan: ReplayPlan) {
        let message = recorded.message
        names.record(message)
        if plan.identity != .same { ids.insert(message.id) }
        if message.type == DomainEvent.MessageDiscarded.type,
            let discarded = try? message.decode(DomainEvent.MessageDiscarded.self), discarded.hasExpired
        {
            expired.insert(discarded.messageID)
        }
        guard place == .inside || place == .last else { return }
        if case .send = plan.step(of: recorded, self) { count += 1 }
    }
}

/// Values of attributes that a replay replaces: `subject:default=test,platform:ios=tv`.
package struct Remapping: Hashable, Sendable {
    package enum Field: String, CaseIterable, Sendable {
        case subject, platform, device, type
    }

    /// A value of an attribute and its replacement.
    package struct Change: Hashable, Sendable {
        package let field: Field
        let former: String
        let latter: String

        /// Reads `FIELD:FORMER=LATTER`.
        /// - Returns: Nil if the string does not have this form, or if the field is `type` and a value is not a type.
        package init?(_ text: Substring) {
            let parts = text.split(scalar: ":", maxSplits: 1).map(String.init)
            let values = parts.last?.split(scalar: "=", maxSplits: 1).map { String($0) } ?? []
            guard parts.count == 2, values.count == 2, let field = Field(rawValue: parts[0]) else { return nil }
            if field == .type, values.contains(where: { MessageType($0) == nil }) { return nil }
            (self.field, former, latter) = (field, values[0], values[1])
        }
    }

    package var changes: [Change]

    package init(_ changes: [Change] = []) {
        self.changes = changes
    }

    /// True if neither platforms nor types change.
    var keepsResults: Bool { !changes.contains { $0.field == .platform || $0.field == .type } }

    func apply(to message: inout Envelope) {
        message.attributes.subject = mapped(message.subject, .subject)
        message.attributes.platform = message.attributes.platform.map { mapped($0, .platform) }
        message.attributes.device = message.attributes.device.map { mapped($0, .device) }
        message.attributes.type = MessageType(mapped(message.type.description, .type)) ?? message.type
    }

    private func mapped(_ value: String, _ field: Field) -> String {
        changes.first { $0.field == field && $0.former == value }?.latter ?? value
    }
}

/// The ids and the times of the messages of a replay.
package enum ReplayIdentity: Hashable, Sendable {
    /// The recorded ids and times.
    case same
    /// This prefix before each recorded id, and the current time.
    case new(prefix: String)

    /// - Parameter isKnown: Returns true if a string is the id of a recorded message. Such a string in the data gets
    ///   the prefix, too.
    func apply(to message: inout Envelope, now: Date, isKnown: (String) -> Bool) {
        guard case .new(let prefix) = self else { return }
        message.attributes.id = prefix + message.id
        message.attributes.correlationID = prefix + message.attributes.correlationID
        message.attributes.causationID = message.attributes.causationID.map { prefix + $0 }
        message.attributes.time = now
        // Data that contains no id of a recorded message is not changed.
        guard let json = JSONText(message.data) else { return }
        let data = json.replacingStrings { isKnown($0) ? prefix + $0 : nil }
        if data != json { message.data = Data(data.utf8) }
    }
}

/// The role of a recorded message in a replay.
package enum ReplayRole: Hashable, Sendable {
    /// The message is neither a result nor past; for example, a view or a service published it. By default, a replay
    /// sends it.
    case input
    /// A coordinator or the error notifier published the message, usually as a result of other messages. By default, a
    /// replay does not send it.
    case result
    /// The message describes a process of the recorded stack: a presence, a contract, a flow, a command that it would
    /// send later, or a message about metrics. A replay never sends it.
    case past

    package init(of message: Envelope) {
        switch message.type {
        case Document.Presence.type, Document.ServiceContract.type, Document.Flow.type, Document.ScheduledCommand.type,
            DomainEvent.MetricsRequested.type, DomainEvent.MetricsReported.type:
            self = .past
        case Document.NavigationState.type: self = .result
        // A coordinator publishes this event when a deadline has passed.
        case DomainEvent.GuardDeadlinePassed.type: self = .input
        default:
            self =
                message.hasDerivedID || Self.isOfErrorNotifier(message) || Self.isExpiryOfCoordinator(message)
                ? .result : .input
        }
    }

    /// True if the message is a coordinator's report that a command had expired.
    private static func isExpiryOfCoordinator(_ message: Envelope) -> Bool {
        message.attributes.source.begins(with: "navigation-coordinator/") && message.isExpiryError
    }

    /// True if the message is a result of the error notifier: a document, or a message with a cause. A message without
    /// a cause, with which the notifier hides a banner after some time, is an input.
    private static func isOfErrorNotifier(_ message: Envelope) -> Bool {
        message.attributes.source.begins(with: "error-notifier/")
            && (message.type.kind == .document || message.attributes.causationID != nil)
    }
}

extension Envelope {
    /// True if the message's id is derived from the id of its cause.
    var hasDerivedID: Bool {
        attributes.causationID.map { DerivedID.isDerived(id, from: $0) } ?? false
    }
}
