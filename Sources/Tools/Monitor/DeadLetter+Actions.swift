package import EventBus
internal import Foundation

extension EventBus {
    /// The ids of the dead letters of a consumer, or of all consumers if it is nil, in the order of the ids.
    package func deadLetterIDs(of consumer: String?) async throws -> [DeadLetter.ID] {
        var ids: [DeadLetter.ID] = []
        try await DeadLetter.forEachPage {
            try await inspect.deadLetterSummaries(of: consumer, after: $0, limit: 1000)
        } _: {
            ids += $0.map(\.id)
        }
        return ids
    }

    /// Removes dead letters, as many as possible in one batch.
    /// - Parameter ids: In order.
    /// - Returns: The ids of those that did not exist. All others are removed.
    package func dropDeadLetters(_ ids: [DeadLetter.ID]) async throws -> [DeadLetter.ID] {
        var missing: [DeadLetter.ID] = []
        for start in stride(from: 0, to: ids.count, by: Limits.batchCount) {
            var batch = Batch([])
            batch.resolvedDeadLetters = Array(ids[start..<min(start + Limits.batchCount, ids.count)])
            while !batch.resolvedDeadLetters.isEmpty {
                do {
                    try await publish(batch)
                    break
                } catch let error as BusError where error.code == .deadLetter {
                    // The batch has removed none, because others removed some of these letters before.
                    let existing = try await existing(batch.resolvedDeadLetters)
                    guard existing.count < batch.resolvedDeadLetters.count else { throw error }
                    missing += batch.resolvedDeadLetters.filter { !existing.contains($0) }
                    batch.resolvedDeadLetters.removeAll { !existing.contains($0) }
                }
            }
        }
        return missing
    }

    /// - Parameter ids: In order.
    private func existing(_ ids: [DeadLetter.ID]) async throws -> Set<DeadLetter.ID> {
        guard let first = ids.first, let end = ids.last else { return [] }
        var found: Set<DeadLetter.ID> = []
        var last = first - 1
        while last < end {
            let page = try await inspect.deadLetterSummaries(of: nil, after: last, limit: 1000).map(\.id)
            found.formUnion(page)
            last = page.last ?? end
        }
        return found.intersection(ids)
    }
}

/// The reason why a dead letter cannot be sent again.
package struct UnsendableDeadLetter: Error, Hashable, Sendable {
    /// The kind of the error, for programs.
    package let code: String
    package let message: String
    package let recovery: String
}

extension DeadLetter {
    /// Publishes a copy for the consumer that gave the message up, and removes this dead letter, in one batch.
    /// - Returns: the copy.
    /// - Throws: ``UnsendableDeadLetter`` if the message has an unreadable header, or if it is a document that was
    ///   replaced or withdrawn later. The old version of a document must not become the retained document again.
    package func resend(on bus: EventBus) async throws -> Envelope {
        if message.unreadableHeader != nil {
            throw UnsendableDeadLetter(
                code: "unreadable-header", message: "dead letter \(id) has a header that cannot be read",
                recovery: "drop it with 'segue dead drop \(id)'")
        }
        if message.type.kind == .document, try await !isRetained(on: bus) {
            throw UnsendableDeadLetter(
                code: "outdated-document", message: "dead letter \(id) is a \(message.type) that has changed since",
                recovery: "drop it with 'segue dead drop \(id)'")
        }
        var copy = copy(from: bus.source)
        var batch = Batch([copy])
        batch.resolvedDeadLetters = [id]
        copy.position = try await bus.publish(batch)
        return copy
    }

    private func isRetained(on bus: EventBus) async throws -> Bool {
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
