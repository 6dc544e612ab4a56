internal import CNATS
internal import Support
internal import Synchronization
internal import SystemSupport

/// Replies of a connection: one wildcard subscription receives all of them, and this table finds the request.
///
/// The subject of a reply is `PREFIX.TOKEN`.
final class ReplyInbox: Expiring {
    typealias Completion = @Sendable (Result<NATSMessage, any Error>) -> Void
    /// True for the reply to a request; false for a message that is ignored.
    typealias Filter = @Sendable (NATSMessage) -> Bool

    /// A receiver of replies.
    private enum Entry {
        /// Waits for one reply.
        case request(Request)
        /// Receives any number of replies until it is removed.
        case stream(subject: String, Mailbox<NATSMessage>)

        var subject: String {
            switch self {
            case .request(let request): request.subject
            case .stream(let subject, _): subject
            }
        }

        func fail(_ error: any Error) {
            switch self {
            case .request(let request): request.complete(.failure(error))
            case .stream(_, let mailbox): mailbox.finish(throwing: error)
            }
        }
    }

    private struct Request {
        let subject: String
        let timeout: Duration
        let deadline: ContinuousClock.Instant
        let accepts: Filter?
        let complete: Completion
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
    }

    /// The beginning of the subjects, without the dot after it.
    let prefix: String
    private let alarm: Alarm
    private let state = Mutex(State())

    private static let radix = 36

    /// - Parameter thread: Ends the requests that no reply answers in time.
    init(prefix: String, _ thread: ExecutorThread) {
        self.prefix = prefix
        alarm = Alarm(thread)
    }

    /// The subject of all replies.
    var pattern: String { "\(prefix).*" }

    func reply(_ token: UInt64) -> String { "\(prefix).\(Self.text(token))" }

    static func text(_ token: UInt64) -> String { String(token, radix: radix) }

    /// A random number: a process that has replied to one request cannot guess the subject of another reply.
    func makeToken() -> UInt64 { .random(in: 0 ... .max) }

    /// - Parameters:
    ///   - timeout: The time after which the request fails.
    ///   - accepts: Selects the reply. Nil for the first message.
    ///   - complete: Called once, with the reply or an error. It must not wait: the thread that reads can call it.
    func add(
        _ token: UInt64, subject: String, timeout: Duration, accepting accepts: Filter? = nil,
        _ complete: @escaping Completion
    ) {
        let deadline = ContinuousClock.now + timeout
        let request = Request(
            subject: subject, timeout: timeout, deadline: deadline, accepts: accepts, complete: complete)
        state.withLock { $0.entries[token] = .request(request) }
        alarm.set(deadline, for: self)
    }

    func add(_ token: UInt64, subject: String, _ mailbox: Mailbox<NATSMessage>) {
        state.withLock { $0.entries[token] = .stream(subject: subject, mailbox) }
    }

    /// Removes an entry without an error.
    func remove(_ token: UInt64) {
        _ = state.withLock { $0.entries.removeValue(forKey: token) }
    }

    /// Ends an entry. Does nothing if its reply has arrived.
    func fail(_ token: UInt64, _ error: any Error) {
        state.withLock { $0.entries.removeValue(forKey: token) }?.fail(error)
    }

    /// Ends all entries.
    func failAll(_ error: (_ subject: String) -> any Error) {
        let entries = state.withLock { state in
            defer { state.entries = [:] }
            return state.entries.values
        }
        for entry in entries { entry.fail(error(entry.subject)) }
    }

    /// Ends all requests, because one of them has no responder. Messages to this inbox itself are not requests.
    func failUnanswered() {
        let entries = state.withLock { state in
            let requests = state.entries.filter { !$0.value.subject.begins(with: prefix) }
            for token in requests.keys { state.entries.removeValue(forKey: token) }
            return requests.values
        }
        for entry in entries { entry.fail(NATSError.noResponders(entry.subject)) }
    }

    /// Ends the entries of a subject that the server does not permit.
    func deny(_ denied: DeniedSubject) {
        let entries = state.withLock { state in
            let matching = state.entries.filter { denied.matches($0.value.subject) }
            for token in matching.keys { state.entries.removeValue(forKey: token) }
            return matching.values
        }
        for entry in entries {
            entry.fail(NATSError(.denied, "the NATS server does not permit this user to publish '\(entry.subject)'"))
        }
    }

    func expire(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        let (due, next) = state.withLock { state in
            var (due, next): ([Request], ContinuousClock.Instant?) = ([], nil)
            for case (let token, .request(let request)) in state.entries {
                if request.deadline <= now {
                    due.append(request)
                    state.entries[token] = nil
                } else {
                    next = min(next ?? request.deadline, request.deadline)
                }
            }
            return (due, next)
        }
        for request in due { request.complete(.failure(NATSError.timeout(request.subject, request.timeout))) }
        return next
    }

    var count: Int { state.withLock(\.entries.count) }

    /// Receives a message and finds its receiver.
    func receive(_ pointer: OpaquePointer) {
        receive(pointer, for: token(of: pointer))
    }

    /// Receives a message for a known receiver.
    func receive(_ pointer: OpaquePointer, for token: UInt64?) {
        let message = NATSMessage(owning: pointer)
        guard let token else { return }
        let entry = state.withLock { state -> Entry? in
            switch state.entries[token] {
            case .stream(let subject, let mailbox): return .stream(subject: subject, mailbox)
            case .request(let request):
                if let accepts = request.accepts, !natsMsg_IsNoResponders(pointer), !accepts(message) { return nil }
                return state.entries.removeValue(forKey: token)
            case nil: return nil
            }
        }
        switch entry {
        case .request(let request):
            if natsMsg_IsNoResponders(pointer) {
                request.complete(.failure(NATSError.noResponders(request.subject)))
            } else {
                request.complete(.success(message))
            }
        case .stream(let subject, let mailbox):
            if !mailbox.put(message) {
                mailbox.finish(throwing: NATSError(.overflow, "too many replies to '\(subject)' wait to be read"))
            }
        case nil: break
        }
    }

    /// The token of a message, read from the bytes that libnats received.
    private func token(of pointer: OpaquePointer) -> UInt64? {
        guard let subject = natsMsg_GetSubject(pointer) else { return nil }
        let bytes = UnsafeRawBufferPointer(start: subject, count: Self.length(subject))
        return bytes.starts(with: prefix.utf8) ? Self.token(bytes.dropFirst(prefix.utf8.count + 1)) : nil
    }

    private static func length(_ text: UnsafePointer<CChar>) -> Int {
        var length = 0
        while text[length] != 0 { length += 1 }
        return length
    }

    private static func token(_ digits: some Collection<UInt8>) -> UInt64? {
        guard !digits.isEmpty, digits.count <= 13 else { return nil }
        var token: UInt64 = 0
        for digit in digits {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = digit - UInt8(ascii: "a") + 10
            default: return nil
            }
            token = token &* UInt64(radix) &+ UInt64(value)
        }
        return token
    }
}

/// A subject in the server's message about a missing permission.
struct DeniedSubject: Hashable, Sendable {
    enum Operation { case publish, subscribe }

    let operation: Operation
    private let subject: String
    /// True if the end of the subject is missing, because libnats keeps only 255 bytes of the text.
    private let isCut: Bool

    /// Reads a text such as `Permissions Violation for Publish to "a.b"`. Nil if it is another error.
    init?(_ text: String) {
        let lowercased = text.lowercased()
        guard lowercased.contains(scalars: "permissions violation") else { return nil }
        if lowercased.contains(scalars: "for publish to") {
            operation = .publish
        } else if lowercased.contains(scalars: "for subscription to") {
            operation = .subscribe
        } else {
            return nil
        }
        guard let (_, rest) = text.cut(at: "\"") else { return nil }
        let quoted = rest.cut(at: "\"")
        subject = String(quoted?.before ?? rest)
        isCut = quoted == nil
    }

    func matches(_ subject: String) -> Bool {
        isCut ? subject.begins(with: self.subject) : subject == self.subject
    }
}
