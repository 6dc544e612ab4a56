package import EventBus
internal import Foundation

/// The reason why a dead letter cannot be sent again.
package struct UnsendableLetter: Error, Hashable, Sendable {
    /// The kind of the error, for programs.
    package let code: String
    package let message: String
    package let recovery: String
}

extension DeadLetter {
    /// Publishes a copy for the consumer that gave the message up, and removes this dead letter, in one batch.
    /// - Returns: the copy.
    /// - Throws: ``UnsendableLetter`` if the message has an unreadable header, or if it is a document that was replaced
    ///   or withdrawn later. The old version of a document must not become the retained document again.
    package func resend(on bus: any EventBus) async throws -> Envelope {
        if message.unreadableHeader != nil {
            throw UnsendableLetter(
                code: "unreadable-header", message: "dead letter \(id) has a header that cannot be read",
                recovery: "drop it with 'segue dead drop \(id)'")
        }
        if message.type.kind == .document, try await !isRetained(on: bus) {
            throw UnsendableLetter(
                code: "outdated-document", message: "dead letter \(id) is a \(message.type) that has changed since",
                recovery: "drop it with 'segue dead drop \(id)'")
        }
        var copy = copy(from: bus.source)
        var batch = Batch([copy])
        batch.settledLetters = [id]
        copy.position = try await bus.publish(batch)
        return copy
    }

    /// Removes the dead letter.
    package func drop(on bus: any EventBus) async throws {
        var batch = Batch([])
        batch.settledLetters = [id]
        try await bus.publish(batch)
    }

    private func isRetained(on bus: any EventBus) async throws -> Bool {
        try await bus.document(message.type, subject: message.subject, key: message.attributes.key)?.id == message.id
    }

    /// A copy with a new id and the same data, sent only to the consumer that gave the message up. A command's lifetime
    /// has the same length and begins now.
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
