internal import Foundation
internal import Support

/// Reading single messages from any replica of a stream (`allow_direct`). A replica may lag behind the leader.
extension JetStream {
    /// The last messages of many subjects, with at most 1,024 subjects.
    package struct LastMessages: Sendable {
        /// Ordered by sequence.
        package let messages: [StoredMessage]
        /// The stream's sequence when the request was executed. Later messages are not included.
        package let end: Int
    }

    /// The last message of each subject.
    /// - Parameters:
    ///   - filters: Subjects, which may contain wildcards.
    ///   - start: The lowest sequence to return.
    ///   - batch: The maximum number of messages. Further ones are left out.
    /// - Throws: ``JetStreamError`` with status 413 if more than 1,024 subjects match.
    package func lastMessages(
        of stream: String, filters: [String], from start: Int? = nil, batch: Int = 256
    ) async throws -> LastMessages {
        let subject = Self.prefix + "DIRECT.GET.\(stream)"
        let request = JSONValue.object(members: [
            ("multi_last", .array(filters.map { .string($0) })), ("batch", .integer(batch)),
            ("seq", start.map { .integer($0) }),
        ])
        // The limit leaves room for the status message at the end.
        let token = connection.inbox.makeToken()
        return try await connection.withReplies(to: subject, token, limit: batch + 16) { mailbox in
            try connection.sendRequest(subject, body: Array(request.description.utf8), to: token, in: connection.inbox)
            return try await collect(mailbox, subject)
        }
    }

    private func collect(_ mailbox: Mailbox<NATSMessage>, _ subject: String) async throws -> LastMessages {
        let timeout = timeout
        var messages: [StoredMessage] = []
        while true {
            let reply = try await mailbox.next(timeout: timeout) { NATSError.timeout(subject, timeout) }
            guard let reply else { throw NATSError.closed }
            if let message = StoredMessage(direct: reply) {
                messages.append(message)
                continue
            }
            switch reply.status {
            case 204:
                return LastMessages(
                    messages: messages, end: reply.header("Nats-UpTo-Sequence").flatMap { Int(count: $0) } ?? 0)
            case 404: return LastMessages(messages: [], end: 0)
            case 503: throw NATSError(.noResponders, "no process answers requests to '\(subject)'")
            case let status:
                throw JetStreamError(status: status ?? 500, text: reply.statusText, subject: subject)
            }
        }
    }
}
