/// Waiting for servers that are away, elect a leader or are busy.
extension JetStream {
    /// Repeats an operation while it fails with an error that is temporary.
    ///
    /// After a missing reply, the operation may have been executed. So it must be one that can be executed twice.
    package func retrying<Result>(_ operation: () async throws -> Result) async throws -> Result {
        var attempt = 0
        var wait = connection.waits.operation()
        defer { wait.end() }
        while true {
            do {
                return try await operation()
            } catch let error where error.isTemporary {
                wait.recordFailure("\(error)")
                try await connection.pause(attempt)
                attempt += 1
            }
        }
    }
}

extension NATSConnection {
    /// Waits for a connection, without a limit.
    /// - Throws: ``NATSError`` `closed`; `CancellationError`.
    package func waitForConnection() async throws {
        for await state in changes() {
            if case .connected = state { return }
        }
        try Task.checkCancellation()
        throw NATSError.closed
    }

    /// Waits before an operation is tried again: until there is a connection, then for a time that grows with the
    /// attempts, from about 20 ms to 1 s. The time is a random one, so that clients that have disturbed each other do
    /// not try again together.
    /// - Parameter attempt: The number of earlier pauses.
    /// - Throws: ``NATSError`` `closed`; `CancellationError`.
    package func pause(_ attempt: Int) async throws {
        try await waitForConnection()
        let milliseconds = Int.random(in: 10...30) << min(attempt, 6)
        try await Task.sleep(for: .milliseconds(min(milliseconds, 1000)))
    }
}

extension Error {
    /// True for the failure of a request that may succeed later: no connection, no leader, no reply, an earlier sending
    /// that is being stored, or a server that lacks messages.
    package var isTemporary: Bool {
        switch self {
        case let error as NATSError:
            [.noResponders, .timeout, .disconnected, .congested, .incomplete].contains(error.code)
        case let error as JetStreamError:
            error.status == 503 || [.expectationUnderWay, .messageIDUnderWay].contains(error.code)
        default: false
        }
    }

    /// True for a failure after which the same request or another consumer may succeed. A stream that is missing may
    /// come: a program makes it, or a server that has just started reads it.
    package var passes: Bool {
        isTemporary || endsConsumer || (self as? JetStreamError)?.code == .streamNotFound
    }

    /// True if a consumer can deliver no more, and another one can.
    package var endsConsumer: Bool {
        switch self {
        case let error as NATSError: error.code == .overflow
        case let error as JetStreamError: [404, 409].contains(error.status) && error.code != .streamNotFound
        default: false
        }
    }
}
