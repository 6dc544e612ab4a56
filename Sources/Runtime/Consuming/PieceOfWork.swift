internal import EventBus

/// Work that is under way for an instance.
struct PieceOfWork: Sendable {
    typealias Call = @Sendable () async throws -> Void

    /// The message that began it.
    let cause: Envelope
    let platform: String
    let instance: String
    /// The call of its handler; one that does nothing if there is no handler for it any more.
    let call: Call
    let isCallable: Bool
    private let stop = ReadySignal()
    private let hasEnded = ReadySignal()

    /// - Returns: nil for a message that comes from no instance.
    /// - Parameter call: nil if there is no handler for the message any more.
    init?(_ cause: Envelope, _ call: Call?) {
        guard let platform = cause.attributes.platform, let instance = cause.attributes.instance else { return nil }
        self.cause = cause
        self.call = call ?? {}
        isCallable = call != nil
        self.platform = platform
        self.instance = instance
    }

    /// Whether both are for the same instance: identifiers are unique only within a platform's session.
    func isFor(_ platform: String?, _ instance: String, subject: String) -> Bool {
        self.instance == instance && self.platform == platform && cause.subject == subject
    }

    /// Does it until it ends by itself, or is ended.
    func run(_ work: @escaping @Sendable () async throws -> Void) async throws {
        defer { hasEnded.signal() }
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await work() }
            tasks.addTask { _ = try? await stop.wait() }
            defer { tasks.cancelAll() }
            try await tasks.next()
        }
    }

    /// Cancels it, and returns when it has ended: from then on it does nothing more.
    func end() async throws {
        stop.signal()
        try await hasEnded.wait()
    }
}
