internal import EventBus
internal import Foundation

extension DeadLetter {
    /// Publishes a copy for the consumer that has given the message up, and settles this letter, in one batch.
    /// - Returns: the copy.
    /// - Throws: ``CommandError`` for a message that nobody can read, and for a document that has changed since: an old one
    ///   must not be taken for what is true now.
    func resend(on bus: any EventBus) async throws -> Envelope {
        if message.unreadableHeader != nil {
            throw CommandError(
                code: "unreadable-header", "letter \(id) has a header that cannot be read",
                recovery: "drop it with 'segue dead drop \(id)'")
        }
        if message.type.kind == .document, try await !isRetained(on: bus) {
            throw CommandError(
                code: "outdated-document", "letter \(id) is a \(message.type) that has changed since",
                recovery: "drop it with 'segue dead drop \(id)'")
        }
        var copy = copy(from: bus.source)
        var batch = Batch([copy])
        batch.settledLetters = [id]
        copy.position = try await bus.publish(batch)
        return copy
    }

    private func isRetained(on bus: any EventBus) async throws -> Bool {
        try await bus.document(message.type, subject: message.subject, key: message.attributes.key)?.id == message.id
    }

    /// A new message of the same story, also when the old one has attributes that no client publishes. A command is worth as
    /// long as it was, counted from now.
    private func copy(from source: String) -> Envelope {
        var attributes = Attributes(type: message.type, source: source, causedBy: message.attributes)
        attributes.key = message.attributes.key
        attributes.recipient = consumer
        attributes.expiryTime = message.attributes.expiryTime.map {
            attributes.time + max(0, $0.timeIntervalSince(message.attributes.time))
        }
        return Envelope(attributes: attributes, data: message.data)
    }
}
