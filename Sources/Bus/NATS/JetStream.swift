internal import Foundation
package import Support

/// The JetStream of a connection: streams, messages and consumers.
///
/// Every method throws ``NATSError``, or ``JetStreamError`` if JetStream refuses the request.
package struct JetStream: Sendable {
    package let connection: NATSConnection
    /// The maximum time to wait for a response, unless a method has a parameter for it.
    package let timeout: Duration

    static let prefix = "$JS.API."

    package init(_ connection: NATSConnection, timeout: Duration = .seconds(5)) {
        self.connection = connection
        self.timeout = timeout
    }

    /// Sends a request of JetStream's API.
    /// - Parameter operation: Such as `STREAM.INFO.ORDERS`.
    @discardableResult
    package func call(_ operation: String, _ request: JSONValue? = nil) async throws -> JSONValue {
        let subject = Self.prefix + operation
        let body = request.map { Array($0.description.utf8) } ?? []
        return try await connection.request(subject, body: body, timeout: timeout).response(to: subject)
    }

    // MARK: Streams

    /// The settings and the state of a stream, from its leader.
    /// - Throws: ``JetStreamError`` `streamNotFound`; with status 503 if the stream has no leader now.
    package func stream(_ name: String) async throws -> StreamInfo {
        try StreamInfo(await leaderInfo(of: name), name)
    }

    /// The number of messages of each subject of a stream, from its leader.
    /// - Parameter filter: A subject, which may contain wildcards.
    /// - Throws: As ``stream(_:)``.
    package func subjects(of stream: String, matching filter: String) async throws -> [String: Int] {
        let response = try await leaderInfo(of: stream, ["subjects_filter": .string(filter)])
        return response["state"]?["subjects"]?.objectValue?.compactMapValues(\.countValue) ?? [:]
    }

    private func leaderInfo(of stream: String, _ request: JSONValue? = nil) async throws -> JSONValue {
        let operation = "STREAM.INFO.\(stream)"
        let response = try await call(operation, request)
        guard StreamInfo.isFromLeader(response) else {
            throw JetStreamError(status: 503, text: "the stream has no leader now", subject: Self.prefix + operation)
        }
        return response
    }

    /// Creates a stream. Succeeds if there is one with these settings.
    /// - Parameter settings: `name`, `subjects` and the other members that JetStream defines.
    /// - Throws: ``JetStreamError`` `streamNameInUse`.
    package func createStream(_ settings: JSONValue) async throws -> StreamInfo {
        let name = try Self.name(of: settings)
        return try StreamInfo(await call("STREAM.CREATE.\(name)", settings), name)
    }

    /// - Parameter settings: All settings of the stream, as ``StreamInfo/settings`` has them.
    package func updateStream(_ settings: JSONValue) async throws -> StreamInfo {
        let name = try Self.name(of: settings)
        return try StreamInfo(await call("STREAM.UPDATE.\(name)", settings), name)
    }

    package func deleteStream(_ name: String) async throws {
        try await call("STREAM.DELETE.\(name)")
    }

    /// Removes messages.
    /// - Parameters:
    ///   - filter: Only messages of these subjects. Nil for all.
    ///   - sequence: Only messages before this sequence. Not together with `keep`.
    ///   - keep: The number of messages to keep, the newest ones.
    /// - Returns: The number of removed messages.
    @discardableResult
    package func purge(
        _ stream: String, filter: String? = nil, before sequence: Int? = nil, keep: Int? = nil
    ) async throws -> Int {
        let request = JSONValue.object(members: [
            ("filter", filter.map { .string($0) }), ("seq", sequence.map { .integer($0) }),
            ("keep", keep.map { .integer($0) }),
        ])
        return try await call("STREAM.PURGE.\(stream)", request)["purged"]?.countValue ?? 0
    }

    private static func name(of settings: JSONValue) throws(NATSError) -> String {
        guard let name = settings["name"]?.stringValue else {
            throw NATSError(.invalid, "the settings of a stream have no name")
        }
        return name
    }

    // MARK: Publishing

    /// Stores a message.
    /// - Parameters:
    ///   - id: The message's id. If the stream has stored a message with this id within its `duplicate_window`, the
    ///     message is not stored again, and the acknowledgement says so.
    ///   - expectation: The message is stored only if this holds.
    /// - Throws: ``JetStreamError`` `wrongLastSequence` if the expectation does not hold; `expectationUnderWay`,
    ///   `limitReached`, `storageFull` and others.
    @discardableResult
    package func publish(
        _ subject: String, headers: NATSHeaders = [:], body: [UInt8], id: String? = nil,
        expecting expectation: LastSequence? = nil, timeout: Duration? = nil
    ) async throws -> PublishAcknowledgement {
        var headers = headers
        if let id { headers["Nats-Msg-Id"] = id }
        if let expectation {
            headers["Nats-Expected-Last-Subject-Sequence"] = String(expectation.sequence)
            if let other = expectation.subject { headers["Nats-Expected-Last-Subject-Sequence-Subject"] = other }
        }
        let reply = try await connection.request(
            subject, headers: headers, body: body, timeout: timeout ?? self.timeout)
        return try PublishAcknowledgement(reply, to: subject)
    }

    /// Stores a message, and calls `complete` with the result, without a task.
    /// - Parameters:
    ///   - headers: All headers, with the id and the expectation.
    ///   - complete: Called once. It must not wait: the thread that reads the socket or the caller's thread calls it.
    package func publish(
        _ subject: String, headers: NATSHeaders, body: [UInt8], timeout: Duration,
        completion complete: @escaping @Sendable (Result<PublishAcknowledgement, any Error>) -> Void
    ) {
        connection.publish(subject, headers: headers, body: body, timeout: timeout) { reply in
            complete(Result { try PublishAcknowledgement(try reply.get(), to: subject) })
        }
    }

    // MARK: Single messages

    /// The last message of a subject, from the stream's leader. Nil if there is none.
    package func lastMessage(of stream: String, subject: String) async throws -> StoredMessage? {
        try await message(of: stream, ["last_by_subj": .string(subject)])
    }

    /// The message with a sequence, from the stream's leader. Nil if there is none.
    package func message(of stream: String, sequence: Int) async throws -> StoredMessage? {
        try await message(of: stream, ["seq": .integer(sequence)])
    }

    /// The first message at or after a sequence whose subject matches, from the stream's leader. Nil if there is none.
    /// - Parameter subject: A subject, which may contain wildcards.
    package func nextMessage(of stream: String, subject: String, from sequence: Int) async throws -> StoredMessage? {
        try await message(of: stream, ["seq": .integer(max(sequence, 1)), "next_by_subj": .string(subject)])
    }

    private func message(of stream: String, _ request: JSONValue) async throws -> StoredMessage? {
        let response: JSONValue
        do {
            response = try await call("STREAM.MSG.GET.\(stream)", request)
        } catch let error as JetStreamError where error.code == .messageNotFound {
            return nil
        }
        guard let message = StoredMessage(response["message"]) else {
            throw NATSError(.invalid, "the response to 'STREAM.MSG.GET.\(stream)' has no valid message")
        }
        return message
    }
}

/// A condition for storing a message: the sequence of the last message of a subject.
package struct LastSequence: Hashable, Sendable {
    /// 0 if there must be no message.
    package let sequence: Int
    /// The subject; it may contain wildcards. Nil for the subject of the message that is stored.
    package let subject: String?

    package init(_ sequence: Int, of subject: String? = nil) {
        self.sequence = sequence
        self.subject = subject
    }
}

/// The reply of a stream that has stored a message.
package struct PublishAcknowledgement: Hashable, Sendable {
    package let stream: String
    package let sequence: Int
    /// True if the stream already had the message.
    package let isDuplicate: Bool
}

extension PublishAcknowledgement {
    /// - Throws: ``JetStreamError``; ``NATSError`` `invalid` if the reply is not an acknowledgement.
    fileprivate init(_ reply: NATSMessage, to subject: String) throws {
        if let status = reply.status {
            throw JetStreamError(status: status, text: reply.statusText, subject: subject)
        }
        let response = try reply.response(to: subject)
        guard let stream = response["stream"]?.stringValue, let sequence = response["seq"]?.countValue else {
            throw NATSError(.invalid, "the reply to '\(subject)' is not an acknowledgement of JetStream")
        }
        self.init(stream: stream, sequence: sequence, isDuplicate: response["duplicate"]?.boolValue ?? false)
    }
}

/// The settings and the state of a stream.
package struct StreamInfo: Sendable {
    package let name: String
    /// The settings that the server uses, including defaults and those that this version of the client does not know.
    package let settings: JSONValue
    package let lastSequence: Int
    package let messageCount: Int
    package let byteCount: Int
    /// The name of the server that leads the stream's group. Nil if there is none, or the server is not in a cluster.
    package let leader: String?
    /// The other servers that store the stream.
    package let followers: [Follower]
    package let metadata: [String: String]

    init(_ response: JSONValue, _ name: String) throws(NATSError) {
        guard let settings = response["config"], let state = response["state"],
            let last = state["last_seq"]?.countValue
        else { throw NATSError(.invalid, "the response about the stream '\(name)' has no config or state") }
        self.name = name
        self.settings = settings
        lastSequence = last
        messageCount = state["messages"]?.countValue ?? 0
        byteCount = state["bytes"]?.countValue ?? 0
        leader = response["cluster"]?["leader"]?.stringValue
        followers = (response["cluster"]?["replicas"]?.arrayValue ?? []).compactMap(Follower.init)
        metadata = settings["metadata"]?.objectValue?.compactMapValues(\.stringValue) ?? [:]
    }

    /// Returns the settings with further metadata, which replaces that of the same keys.
    package func settings(adding added: [String: String]) -> JSONValue {
        var settings = settings.objectValue ?? [:]
        settings["metadata"] = .object(metadata.merging(added) { $1 }.mapValues { .string($0) })
        return .object(settings)
    }

    /// A server that stores a stream and does not lead it.
    package struct Follower: Hashable, Sendable {
        package let name: String
        /// True if the leader has received a message of the server in the last 3 seconds.
        package let isActive: Bool
        /// True if the server has what the leader has. A server that has just been killed can be current for some seconds.
        package let isCurrent: Bool
        /// The number of operations of the leader that the server has not executed.
        package let lag: Int

        package init(name: String, isActive: Bool, isCurrent: Bool, lag: Int) {
            (self.name, self.isActive, self.isCurrent, self.lag) = (name, isActive, isCurrent, lag)
        }

        init?(_ replica: JSONValue) {
            guard let name = replica["name"]?.stringValue else { return nil }
            let isOnline = replica["offline"]?.boolValue != true
            let silence = Duration.nanoseconds(replica["active"]?.integerValue ?? 0)
            self.init(
                name: name, isActive: isOnline && silence < .seconds(3),
                isCurrent: isOnline && replica["current"]?.boolValue == true, lag: replica["lag"]?.countValue ?? 0)
        }
    }

    /// True if a response to `STREAM.INFO` comes from the server that leads the stream's group.
    ///
    /// While a group elects a leader, any of its servers may answer with what it has. A server that has just returned
    /// with an empty disk then describes an empty stream. (`jsStreamInfoRequest` of nats-server 2.15: it answers if the
    /// group has no leader, or if it is the preferred one and was started less than 10 seconds ago.) The server that
    /// answers is missing among the replicas that it names.
    static func isFromLeader(_ response: JSONValue) -> Bool {
        // A server without a cluster says nothing about one.
        guard let cluster = response["cluster"] else { return true }
        guard let leader = cluster["leader"]?.stringValue, !leader.isEmpty else { return false }
        let others = cluster["replicas"]?.arrayValue ?? []
        // A server that has not joined the group yet names itself as the leader, and no others.
        let isAlone = response["config"]?["num_replicas"]?.integerValue ?? 1 <= 1
        return (isAlone || !others.isEmpty) && !others.contains { $0["name"]?.stringValue == leader }
    }
}
