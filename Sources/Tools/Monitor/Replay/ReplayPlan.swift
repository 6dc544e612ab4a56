internal import Contracts
package import EventBus
internal import Foundation
internal import Navigation
internal import Support

/// What of a recording is told again, and how it is changed.
package struct ReplayPlan: Sendable {
    package var stretch = RecordingStretch()
    /// Only these types; empty for any.
    package var types: [MessagePattern] = []
    /// Whether what coordinators and the error notifier said is sent as well, instead of waiting for it.
    package var sendsResults = false
    package var remapping = Remapping()
    package var identity = ReplayIdentity.same

    package init() {}

    package enum Step: Sendable {
        case send(Envelope)
        /// Somebody who hears what was sent before says this, under this id.
        case await(id: String)
        /// Somebody says this document; nobody waits for it but the end.
        case expect(id: String)
        case skip
    }

    /// - Parameter survey: of the same recording.
    func step(of recorded: RecordedMessage, _ survey: ReplaySurvey, now: Date = Date()) -> Step {
        let role = ReplayRole(of: recorded.message)
        guard role == .input || role == .result && sendsResults else {
            return role == .result ? result(recorded.message) : .skip
        }
        guard isWanted(recorded.message.type) else { return .skip }
        var message = recorded.message
        renew(&message, survey, now)
        identity.apply(to: &message, now: now, isKnown: survey.ids.contains)
        remapping.apply(to: &message)
        return .send(message)
    }

    /// Whether a message of this type is sent, as far as its type says.
    func isWanted(_ type: MessageType) -> Bool {
        types.isEmpty || types.contains { $0.matches(type) }
    }

    /// A command is worth as long as it was then, counted from now; but for one that came too late then, and does so again.
    private func renew(_ message: inout Envelope, _ survey: ReplaySurvey, _ now: Date) {
        guard let expiry = message.attributes.expiryTime, !survey.expired.contains(message.id) else { return }
        let lifetime = expiry.timeIntervalSince(message.attributes.time)
        message.attributes.expiryTime = now.addingTimeInterval(max(0, lifetime))
    }

    /// With a part of the inputs only, or others, nobody can be expected to say the same.
    private func result(_ message: Envelope) -> Step {
        guard types.isEmpty, remapping.keepsResults, message.hasDerivedID else { return .skip }
        var id = message.id
        if case .new(let prefix) = identity { id = prefix + id }
        return message.type.kind == .document ? .expect(id: id) : .await(id: id)
    }
}

/// What must be known of a whole recording before any of it is told again.
package struct ReplaySurvey: Sendable {
    /// How many messages there are to send.
    package private(set) var count = 0
    /// The line amid which the recording ends.
    package private(set) var cutOffLine: Int?
    /// The ids of its messages, where they are to be changed.
    private(set) var ids: Set<String> = []
    /// The commands that came too late then.
    private(set) var expired: Set<String> = []

    /// Reads the whole recording.
    /// - Throws: ``RecordingError`` when a line is no message, or it lacks a moment that the plan names.
    package init(of recording: Recording, _ plan: ReplayPlan) async throws {
        var stretch = plan.stretch
        try await recording.read { entry in
            switch entry {
            case .message(let recorded): add(recorded, stretch.place(of: recorded), plan)
            case .mistake(let mistake): throw recording.error(mistake)
            case .cutOff(let line): cutOffLine = line
            case .header, .end: break
            }
            return false
        }
        if let missing = stretch.missing { throw recording.missing(missing) }
    }

    private mutating func add(_ recorded: RecordedMessage, _ place: RecordingStretch.Place, _ plan: ReplayPlan) {
        let message = recorded.message
        if plan.identity != .same { ids.insert(message.id) }
        if message.type == DomainEvent.MessageDiscarded.type,
            let discarded = try? message.decode(DomainEvent.MessageDiscarded.self), discarded.reason == "expired"
        {
            expired.insert(discarded.messageID)
        }
        guard place == .inside || place == .last else { return }
        if case .send = plan.step(of: recorded, self) { count += 1 }
    }
}

/// What a replay changes: `subject:default=test,platform:ios=tv`.
package struct Remapping: Hashable, Sendable {
    package enum Field: String, CaseIterable, Sendable {
        case subject, platform, device, type
    }

    /// A value that takes the place of another.
    package struct Change: Hashable, Sendable {
        package let field: Field
        let former: String
        let latter: String

        /// Reads `FIELD:FORMER=LATTER`.
        /// - Returns: nil unless it is one, and for types that are none.
        package init?(_ text: Substring) {
            let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
            let values = parts.last?.split(separator: "=", maxSplits: 1).map { String($0) } ?? []
            guard parts.count == 2, values.count == 2, let field = Field(rawValue: parts[0]) else { return nil }
            if field == .type, values.contains(where: { MessageType($0) == nil }) { return nil }
            (self.field, former, latter) = (field, values[0], values[1])
        }
    }

    package var changes: [Change]

    package init(_ changes: [Change] = []) {
        self.changes = changes
    }

    /// Whether the processes that hear the messages then say what the recorded ones did, under the same ids.
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

/// Under which ids a story is told again.
package enum ReplayIdentity: Hashable, Sendable {
    /// Under its own, at its own times: coordinators that begin anew reach the very same states.
    case same
    /// Under its own behind this text, and at the time of now: another story beside the recorded one.
    ///
    /// Ids that derive from one another still do, and each tells whence it comes.
    case new(prefix: String)

    /// - Parameter isKnown: whether a text is the id of a recorded message; data may name one.
    func apply(to message: inout Envelope, now: Date, isKnown: (String) -> Bool) {
        guard case .new(let prefix) = self else { return }
        message.attributes.id = prefix + message.id
        message.attributes.correlationID = prefix + message.attributes.correlationID
        message.attributes.causationID = message.attributes.causationID.map { prefix + $0 }
        message.attributes.time = now
        guard let json = try? JSONValue(parsing: message.data) else { return }
        let data = json.mapStrings { isKnown($0) ? prefix + $0 : $0 }
        // What names no message stays as it was written.
        if data != json { message.data = Data(data.description.utf8) }
    }
}

extension JSONValue {
    fileprivate func mapStrings(_ map: (String) -> String) -> JSONValue {
        switch self {
        case .string(let text): .string(map(text))
        case .array(let elements): .array(elements.map { $0.mapStrings(map) })
        case .object(let members): .object(members.mapValues { $0.mapStrings(map) })
        case .null, .bool, .integer, .number: self
        }
    }
}

/// What a recorded message is to those who are told the story again.
package enum ReplayRole: Hashable, Sendable {
    /// It came from outside of navigation: from a view, a service or a clock.
    case input
    /// A coordinator or the error notifier said it of what it had heard, and says it again.
    case result
    /// It tells of a process that is no more.
    case past

    package init(of message: Envelope) {
        switch message.type {
        case Document.Presence.type, Document.ServiceContract.type, Document.Flow.type: self = .past
        case Document.NavigationState.type: self = .result
        // It is said when time has passed: a replay needs no clock.
        case DomainEvent.GuardDeadlinePassed.type: self = .input
        default:
            self =
                message.hasDerivedID || Self.isOfErrorNotifier(message) || Self.isExpiryOfCoordinator(message)
                ? .result : .input
        }
    }

    /// A coordinator that is told an expired command again says so again. A service that said so may not take part.
    private static func isExpiryOfCoordinator(_ message: Envelope) -> Bool {
        message.attributes.source.hasPrefix("navigation-coordinator/") && message.isExpiryError
    }

    /// Its ids are drawn, and it hides a banner by its own clock, without a cause.
    private static func isOfErrorNotifier(_ message: Envelope) -> Bool {
        message.attributes.source.hasPrefix("error-notifier/")
            && (message.type.kind == .document || message.attributes.causationID != nil)
    }
}

extension Envelope {
    /// Whether its id derives from its cause's, as those of coordinators do, in whichever process: told again, it has the
    /// same one.
    var hasDerivedID: Bool {
        attributes.causationID.map { DerivedID.isDerived(id, from: $0) } ?? false
    }
}
