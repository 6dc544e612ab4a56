public import EventBus

/// A bus all of whose messages a test records. The test waits for messages of any time.
///
/// ``TestStack`` observes the bus of a stack of processes, ``BusObserver`` any other.
public protocol ObservedBus: Sendable {
    /// The test's own connection to the bus.
    var bus: EventBus { get }
    /// The recorded messages.
    var transcript: Transcript { get }
    /// The logs to show when a test fails. Empty if there are none.
    var logs: String { get }
}

/// A bus that a test observes, for example the bus in memory of an app that runs in the process of the test.
public struct BusObserver: ObservedBus {
    public let bus: EventBus
    public let transcript = Transcript()
    public let logs = ""

    public init(_ bus: EventBus) {
        self.bus = bus
    }
}

extension ObservedBus {
    /// The default maximum time for which the methods with a parameter `deadline` wait. After this time, they throw.
    public static var deadline: Duration { .seconds(60) }

    /// Runs `body` while all messages are recorded, beginning with the oldest of the journal.
    public func whileRecording<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask {
                try await bus.withSubscription(to: [.all], from: .beginning) { messages in
                    for try await message in messages { transcript.append(message) }
                }
                return nil
            }
            group.addTask { try await body() }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }

    /// Waits for a message for which `fits` returns true. The message may have arrived before the call.
    /// - Parameters:
    ///   - mark: A message. Only later messages of the journal are considered. Nil for all messages.
    ///   - subject: The session of the message. Nil for all sessions.
    /// - Returns: The first matching message, with its envelope.
    /// - Throws: ``StackFailure`` if no such message arrives before the deadline.
    @discardableResult
    public func message<M: Message>(
        _ type: M.Type, after mark: Envelope? = nil, subject: String? = nil, deadline: Duration = Self.deadline,
        where fits: @escaping @Sendable (M) -> Bool = { _ in true }
    ) async throws -> (message: M, envelope: Envelope) {
        let start = mark?.position?.offset ?? 0
        return try await within(deadline, "no matching \(M.type) arrived") {
            try await transcript.first { messages in
                for envelope in messages where envelope.type == M.type && (envelope.position?.offset ?? 0) > start {
                    guard subject == nil || envelope.subject == subject, !envelope.isTombstone else { continue }
                    let message = try envelope.decode(M.self)
                    if fits(message) { return (message, envelope) }
                }
                return nil
            }
        }
    }

    /// Waits for the answer of a service to a message: the first event or error that the message has caused directly.
    /// - Throws: ``StackFailure`` if there is no answer before the deadline.
    public func answer(to cause: Envelope, deadline: Duration = Self.deadline) async throws -> Envelope {
        try await within(deadline, "no answer to \(cause.type) arrived") {
            try await transcript.first { messages in
                messages.first { [.event, .error].contains($0.type.kind) && $0.attributes.causationID == cause.id }
            }
        }
    }

    /// Waits until `fits` returns true for the last document of a type, subject and key.
    /// - Throws: ``StackFailure`` if this has not happened before the deadline.
    @discardableResult
    public func document<D: DocumentMessage>(
        _ type: D.Type, key: String? = nil, subject: String = Session.default, deadline: Duration = Self.deadline,
        where fits: @escaping @Sendable (D) -> Bool
    ) async throws -> D {
        try await within(deadline, "\(D.type) \(key ?? "") did not match") {
            try await transcript.first { messages in
                let last = messages.last {
                    $0.type == D.type && $0.subject == subject && $0.attributes.key == key
                }
                guard let last, !last.isTombstone else { return nil }
                let document = try last.decode(D.self)
                return fits(document) ? document : nil
            }
        }
    }

    /// Waits until `fit` returns true for the array of all messages so far.
    /// - Parameter what: The condition in words, for the failure.
    /// - Throws: ``StackFailure`` if this has not happened before the deadline.
    public func until(
        _ what: String, deadline: Duration = Self.deadline, _ fit: @escaping @Sendable ([Envelope]) -> Bool
    ) async throws {
        try await within(deadline, "the condition '\(what)' was not met") {
            try await transcript.first { fit($0) ? () : nil }
        }
    }

    /// All messages so far.
    public var messages: [Envelope] { transcript.messages }

    private func within<Result: Sendable>(
        _ deadline: Duration, _ failure: String, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Result.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: deadline)
                throw self.failure("\(failure) within \(deadline)")
            }
            defer { group.cancelAll() }
            guard let result = try await group.next() else { throw CancellationError() }
            return result
        }
    }

    func failure(_ reason: String) -> StackFailure { StackFailure(reason, logs: logs, messages: messages) }
}

/// The failure of a test of a stack, with the ends of the processes' logs and the last messages of the bus.
public struct StackFailure: Error, CustomStringConvertible {
    public let description: String

    /// The problem: an event that did not occur in time, or an error.
    public let reason: String

    /// The number of messages that are shown.
    private static let messageCount = 200

    init(_ reason: String, logs: String, messages: [Envelope]) {
        let left = max(0, messages.count - Self.messageCount)
        let transcript = messages.dropFirst(left).map { message in
            let attributes = message.attributes
            return "\(message.position?.offset ?? 0) \(message.type) \(attributes.source) \(attributes.platform ?? "-")"
                + " → \(String(decoding: message.data, as: UTF8.self).cutForFailure)"
        }
        self.reason = reason
        description = """
            \(reason)

            --- The bus ---
            \(((left > 0 ? ["(\(left) earlier messages)"] : []) + transcript).joined(separator: "\n"))

            --- The processes ---
            \(logs)
            """
    }
}

extension String {
    /// The line, or its beginning if it is long.
    var cutForFailure: String {
        let limit = 1000
        return utf8.count <= limit ? self : "\(prefix(limit))… (\(utf8.count) bytes)"
    }
}
