public import EventBus

extension TestStack {
    /// Waits for a message that fits. One that came before the call counts, unless it came before `mark`.
    /// - Parameter mark: only what was journalled behind this message is looked at.
    /// - Returns: the first that fits, with its envelope.
    /// - Throws: ``StackFailure`` when none comes before the deadline.
    @discardableResult
    public func message<M: Message>(
        _ type: M.Type, after mark: Envelope? = nil, subject: String? = nil, deadline: Duration = Self.deadline,
        where fits: @escaping @Sendable (M) -> Bool = { _ in true }
    ) async throws -> (message: M, envelope: Envelope) {
        let start = mark?.position?.offset ?? 0
        return try await within(deadline, "no \(M.type) that fits came") {
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

    /// Waits until the last document of its key fits.
    /// - Throws: ``StackFailure`` when it does not before the deadline.
    @discardableResult
    public func document<D: DocumentMessage>(
        _ type: D.Type, key: String? = nil, subject: String = Session.default, deadline: Duration = Self.deadline,
        where fits: @escaping @Sendable (D) -> Bool
    ) async throws -> D {
        try await within(deadline, "\(D.type) \(key ?? "") does not fit") {
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

    /// Waits until the messages so far fit.
    /// - Parameter what: named in the failure.
    public func until(
        _ what: String, deadline: Duration = Self.deadline, _ fit: @escaping @Sendable ([Envelope]) -> Bool
    ) async throws {
        try await within(deadline, "it did not come true that \(what)") {
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
}
