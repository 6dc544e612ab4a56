internal import Synchronization
internal import SystemSupport

/// The messages of a subject, in a bounded buffer. One task reads it.
///
///     try await connection.withSubscription(to: "orders.>") { subscription in
///         while let delivery = try await subscription.next() { … }
///     }
package final class NATSSubscription: Sendable {
    /// An element of the subscription.
    package enum Delivery: Sendable {
        case message(NATSMessage)
        /// The number of messages that were dropped here, because the reader was too slow.
        case lost(Int)
    }

    private struct Loss {
        /// The number of dropped messages that no element reports yet.
        var unreported = 0
        var total = 0
    }

    package let subject: String
    private let handler: (@Sendable (NATSMessage) -> Void)?
    private let mailbox: Mailbox<Delivery>
    private let loss = Mutex(Loss())

    init(
        _ subject: String, limit: Int, handler: (@Sendable (NATSMessage) -> Void)?, _ thread: ExecutorThread
    ) {
        self.subject = subject
        self.handler = handler
        mailbox = Mailbox(limit: limit, thread)
    }

    var hasHandler: Bool { handler != nil }

    /// The number of messages that were dropped.
    package var lostCount: Int { loss.withLock(\.total) }

    /// Waits for the next message.
    /// - Parameter timeout: The maximum time to wait. Nil for no limit.
    /// - Throws: ``NATSError`` `denied`, `closed` or `timeout`; `CancellationError`.
    package func next(timeout: Duration? = nil) async throws -> Delivery {
        if let delivery = mailbox.dequeueNow() { return delivery }
        if let count = removeLoss() { return .lost(count) }
        let subject = subject
        let delivery = try await mailbox.next(timeout: timeout) {
            NATSError(.timeout, "no message of '\(subject)' within \(timeout ?? .zero)")
        }
        guard let delivery else { throw NATSError.closed }
        return delivery
    }

    private func removeLoss() -> Int? {
        loss.withLock { loss in
            guard loss.unreported > 0 else { return nil }
            defer { loss.unreported = 0 }
            return loss.unreported
        }
    }

    /// Receives a message. Only the thread that reads calls this.
    func receive(_ message: NATSMessage) {
        if let handler { return handler(message) }
        // After a loss, the buffer gets no more messages until the reader has seen the loss, which comes after the
        // messages that wait. So the place of the loss is right.
        loss.withLock { loss in
            if loss.unreported == 0, mailbox.put(.message(message)) { return }
            loss.unreported += 1
            loss.total += 1
        }
    }

    func finish(throwing error: (any Error)?) {
        mailbox.finish(throwing: error)
    }
}

/// A subscription whose messages go to a handler: see ``NATSConnection/subscribe(to:handler:)``.
package struct HandledSubscription: Sendable {
    private let unsubscribe: @Sendable () -> Void

    init(_ unsubscribe: @escaping @Sendable () -> Void) {
        self.unsubscribe = unsubscribe
    }

    /// Ends the subscription. The handler may be called for messages that are on their way.
    package func end() { unsubscribe() }
}
