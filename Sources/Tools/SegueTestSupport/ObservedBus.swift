internal import Contracts
public import EventBus
internal import FlowReview
public import Navigation
internal import Support

/// A bus all of whose messages a test records. The test waits for messages of any time.
///
/// ``TestStack`` observes the bus of a stack of processes, ``BusObserver`` any other. A method that waits throws a
/// ``StackFailure`` at its deadline, which names the line of the test, what it waited for, and what happened instead.
/// A helper that calls such a method passes on the line of its own caller:
///
///     func isServed(_ kind: String, fileID: StaticString = #fileID, line: UInt = #line) async throws {
///         try await message(DomainEvent.CoffeeServed.self, fileID: fileID, line: line) { $0.kind == kind }
///     }
public protocol ObservedBus: Sendable {
    /// The test's own connection to the bus.
    var bus: EventBus { get }
    /// The recorded messages.
    var transcript: Transcript { get }
    /// The maximum time of a wait for which the call names none. Nil for the default: 10 s, or the value of the variable
    /// `SEGUE_TEST_DEADLINE`, such as `60s`.
    var deadline: Duration? { get }
    /// The processes to show when a test fails. Empty if there are none.
    var processes: [ObservedProcess] { get }
}

extension ObservedBus {
    public var deadline: Duration? { nil }
    public var processes: [ObservedProcess] { [] }
}

/// A bus that a test observes, for example the bus in memory of an app that runs in the process of the test.
public struct BusObserver: ObservedBus {
    public let bus: EventBus
    public let transcript = Transcript()
    public let deadline: Duration?

    /// - Parameter deadline: The maximum time of each wait. Nil for the default.
    public init(_ bus: EventBus, deadline: Duration? = nil) {
        self.bus = bus
        self.deadline = deadline
    }
}

extension ObservedBus {
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
    ///   - deadline: The maximum time. Nil for that of the stack.
    /// - Returns: The first matching message, with its envelope.
    /// - Throws: ``StackFailure`` if no such message arrives before the deadline.
    @discardableResult
    public func message<M: Message>(
        _ type: M.Type, after mark: Envelope? = nil, subject: String? = nil, deadline: Duration? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        where fits: @escaping @Sendable (M) -> Bool = { _ in true }
    ) async throws -> (message: M, envelope: Envelope) {
        let start = mark?.position?.offset ?? 0
        @Sendable func isCandidate(_ envelope: Envelope) -> Bool {
            envelope.type == M.type && (envelope.position?.offset ?? 0) > start
                && (subject == nil || envelope.subject == subject) && !envelope.isTombstone
        }
        return try await within(
            deadline, Awaited("\(M.type)\(mark.map { " after \($0.type) at \(start)" } ?? "")", of: subject),
            at: Caller(fileID: fileID, line: line)
        ) { messages in
            let last = messages.last(where: isCandidate)
            return last.map { "none fits; the last one: \($0.text)" } ?? "none arrived"
        } until: { messages in
            for envelope in messages where isCandidate(envelope) {
                let message = try envelope.decode(M.self)
                if fits(message) { return (message, envelope) }
            }
            return nil
        }
    }

    /// Waits for the answer of a service to a message: the first event or error that the message has caused directly.
    /// - Throws: ``StackFailure`` if there is no answer before the deadline.
    public func answer(
        to cause: Envelope, deadline: Duration? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) async throws -> Envelope {
        try await within(
            deadline, Awaited("an event or error in answer to \(cause.type)", of: cause.subject),
            at: Caller(fileID: fileID, line: line)
        ) { _ in
            "none arrived"
        } until: { messages in
            messages.first { [.event, .error].contains($0.type.kind) && $0.attributes.causationID == cause.id }
        }
    }

    /// Waits until `fits` returns true for the last document of a type, subject and key.
    /// - Returns: The document.
    /// - Throws: ``StackFailure`` if this has not happened before the deadline.
    @discardableResult
    public func document<D: DocumentMessage>(
        _ type: D.Type, key: String? = nil, subject: String = Session.default, deadline: Duration? = nil,
        fileID: StaticString = #fileID, line: UInt = #line, where fits: @escaping @Sendable (D) -> Bool
    ) async throws -> D {
        @Sendable func last(in messages: [Envelope]) -> Envelope? {
            messages.last { $0.type == D.type && $0.subject == subject && $0.attributes.key == key }
        }
        return try await within(
            deadline, Awaited("\(D.type)\(key.map { " \($0)" } ?? "")", of: subject),
            at: Caller(fileID: fileID, line: line)
        ) { messages in
            switch last(in: messages) {
            case nil: "there is none"
            case let last? where last.isTombstone: "it is withdrawn"
            case let last?: "it does not fit: \(last.text)"
            }
        } until: { messages in
            guard let last = last(in: messages), !last.isTombstone else { return nil }
            let document = try last.decode(D.self)
            return fits(document) ? document : nil
        }
    }

    /// Waits until a screen is the top screen of a platform.
    /// - Parameter screen: The name of the screen, or the name with all arguments: `cup(kind: lungo)`.
    /// - Returns: The state of the platform.
    /// - Throws: ``StackFailure`` if this has not happened before the deadline.
    @discardableResult
    public func screen(
        _ screen: String, on platform: String, subject: String = Session.default, deadline: Duration? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) async throws -> NavigationSnapshot {
        @Sendable func last(in messages: [Envelope]) throws -> NavigationSnapshot? {
            let last = messages.last {
                $0.type == Document.NavigationState.type && $0.subject == subject && $0.attributes.key == platform
            }
            guard let last, !last.isTombstone else { return nil }
            return try last.decode(Document.NavigationState.self).snapshot
        }
        return try await within(
            deadline, Awaited("the screen \(screen) on \(platform)", of: subject),
            at: Caller(fileID: fileID, line: line)
        ) { messages in
            let last = try? last(in: messages)
            return last.map { "it shows \($0.state.top.text)" } ?? "there is no state of \(platform)"
        } until: { messages in
            guard let last = try last(in: messages) else { return nil }
            return [last.state.top.screen, last.state.top.text].contains(screen) ? last : nil
        }
    }

    /// Waits until `fit` returns true for the array of all messages so far.
    /// - Parameter what: The condition in words, for the failure.
    /// - Throws: ``StackFailure`` if this has not happened before the deadline.
    public func until(
        _ what: String, deadline: Duration? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ fit: @escaping @Sendable ([Envelope]) -> Bool
    ) async throws {
        try await within(deadline, Awaited("the condition '\(what)'"), at: Caller(fileID: fileID, line: line)) { _ in
            "it is not met"
        } until: { messages in
            fit(messages) ? () : nil
        }
    }

    /// All messages so far.
    public var messages: [Envelope] { transcript.messages }

    /// - Parameters:
    ///   - found: Describes what there is instead, for the failure.
    ///   - find: Returns the result for the messages so far. Nil to wait for more.
    private func within<Result: Sendable>(
        _ deadline: Duration?, _ awaited: Awaited, at caller: Caller,
        found: @escaping @Sendable ([Envelope]) -> String,
        until find: @escaping @Sendable ([Envelope]) throws -> Result?
    ) async throws -> Result {
        try await SegueTestSupport.within(deadline ?? self.deadline) {
            try await transcript.first(find)
        } orThrow: { beginning in
            failure("\(beginning) \(awaited): \(found(messages))", at: caller, session: awaited.session)
        }
    }

    func failure(_ reason: String, at caller: Caller, session: String? = nil) -> StackFailure {
        StackFailure(
            FailureReport(
                caller: caller, reason: reason, session: session, messages: messages, processes: processes))
    }
}

/// What a test waits for, in words.
private struct Awaited: Sendable, CustomStringConvertible {
    let what: String
    let session: String?

    init(_ what: String, of session: String? = nil) {
        self.what = what
        self.session = session
    }

    var description: String {
        guard let session, session != Session.default else { return what }
        return "\(what) of the session \(session)"
    }
}

extension Envelope {
    /// The data in a failure's first line.
    fileprivate var text: String { String(decoding: data, as: UTF8.self).printable.cut(to: 200) }
}
