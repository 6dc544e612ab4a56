package import EventBus
internal import Foundation

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
