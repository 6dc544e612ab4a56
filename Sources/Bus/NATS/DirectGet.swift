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
        /// The number of messages that did not fit into the batch. Continue after the last sequence of ``messages``,
        /// with the same end.
        package let pending: Int
    }

    /// The last message of a subject, from any replica. Nil if there is none.
    package func directLastMessage(of stream: String, subject: String) async throws -> StoredMessage? {
        let operation = Self.prefix + "DIRECT.GET.\(stream).\(subject)"
        let reply = try await connection.request(operation, timeout: timeout)
        if let status = reply.status, reply.header("Nats-Sequence") == nil {
            if status == 404 { return nil }
            throw JetStreamError(status: status, text: reply.statusText, subject: operation)
        }
        guard let message = StoredMessage(direct: reply) else {
            throw NATSError(.invalid, "the reply to '\(operation)' has no valid message")
        }
        return message
    }

    /// The last message of each subject.
    /// - Parameters:
    ///   - filters: Subjects, which may contain wildcards.
    ///   - start: The lowest sequence to return.
    ///   - end: The highest sequence to consider; messages after it do not hide earlier ones. Nil for the stream's end.
    ///   - batch: The maximum number of messages.
    /// - Throws: ``JetStreamError`` with status 413 if more than 1,024 subjects match.
    package func lastMessages(
        of stream: String, filters: [String], from start: Int? = nil, upTo end: Int? = nil, batch: Int = 256
    ) async throws -> LastMessages {
        let subject = Self.prefix + "DIRECT.GET.\(stream)"
        let request = JSONValue.object(members: [
            ("multi_last", .array(filters.map { .string($0) })), ("batch", .integer(batch)),
            ("seq", start.map { .integer($0) }), ("up_to_seq", end.map { .integer($0) }),
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
                    messages: messages, end: reply.header("Nats-UpTo-Sequence").flatMap { Int(count: $0) } ?? 0,
                    pending: reply.header("Nats-Num-Pending").flatMap { Int(count: $0) } ?? 0)
            case 404: return LastMessages(messages: [], end: 0, pending: 0)
            case 503: throw NATSError(.noResponders, "no process answers requests to '\(subject)'")
            case let status:
                throw JetStreamError(status: status ?? 500, text: reply.statusText, subject: subject)
            }
        }
    }
}
