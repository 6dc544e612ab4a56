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
        var copy = copy(from: bus.source, commandLifetime: type(of: bus).commandLifetime)
        var batch = Batch([copy])
        batch.settledLetters = [id]
        copy.position = try await bus.publish(batch)
        return copy
    }

    private func isRetained(on bus: any EventBus) async throws -> Bool {
        try await bus.document(message.type, subject: message.subject, key: message.attributes.key)?.id == message.id
    }

    private func copy(from source: String, commandLifetime: Duration) -> Envelope {
        var attributes = message.attributes
        attributes.id = MessageID.make()
        attributes.source = source
        attributes.time = Date()
        attributes.causationID = message.id
        attributes.recipient = consumer
        attributes.expire(after: message.type.kind == .command ? commandLifetime : nil)
        return Envelope(attributes: attributes, data: message.data)
    }
}
