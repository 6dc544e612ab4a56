internal import Contracts
internal import EventBus
internal import Foundation
internal import Navigation

extension DeviceSession {
    /// What a view tells of its own accord, to be sent once the screen is drawn. It has no animation: what is leaving
    /// is gone at once.
    mutating func reports() throws -> [Output] {
        guard let snapshot else { return [] }
        var reports: [Envelope] = []
        if snapshot.revision != displayedRevision {
            displayedRevision = snapshot.revision
            let top = snapshot.state.top.id
            reports.append(try envelope(Command.ScreenDisplayed(revision: snapshot.revision), instance: top))
        }
        let leaving = snapshot.state.leaving.map(\.id)
        for instance in leaving where !goneInstances.contains(instance) {
            reports.append(try envelope(Command.ScreenGone(instance: instance), instance: instance))
        }
        goneInstances = Set(leaving)
        return reports.map(Output.publish)
    }

    /// Wraps a choice. What expires is an intent: a report tells what has happened, however late it is.
    func envelope(_ choice: Choice) throws -> Envelope {
        var envelope = try envelope(choice.content, instance: choice.instance)
        guard !choice.isReport else { return envelope }
        envelope.attributes.expire(after: commandLifetime)
        return envelope
    }

    private func envelope(_ content: Choice.Content, instance: String) throws -> Envelope {
        switch content {
        case .command(let command): return try envelope(command, instance: instance)
        case .named(let type, let fields):
            var attributes = Attributes(type: type, source: identity.source, subject: identity.subject)
            attributes.platform = identity.platform
            attributes.device = identity.device
            attributes.instance = instance
            return Envelope(attributes: attributes, data: Data(JSONValue.object(fields).description.utf8))
        }
    }

    func envelope(_ message: some Message, instance: String?) throws -> Envelope {
        try Envelope(
            message, source: identity.source, subject: identity.subject, origin: identity.origin(instance))
    }
}
