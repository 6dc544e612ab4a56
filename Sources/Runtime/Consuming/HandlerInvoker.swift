internal import Contracts
internal import EventBus
internal import Logging
internal import ServiceLifecycle

/// Calls handlers and work, again if they fail, and turns their results into messages.
struct HandlerInvoker: Sendable {
    private let handlers: Handlers
    private let bus: EventBus
    private let logger: Logger
    private let clock: ServiceClock
    private let loop: ConsumerLoop
    private let running: RunningWork

    init(
        _ handlers: Handlers, bus: EventBus, logger: Logger, clock: ServiceClock, loop: ConsumerLoop,
        running: RunningWork
    ) {
        self.handlers = handlers
        self.bus = bus
        self.logger = logger
        self.clock = clock
        self.loop = loop
        self.running = running
    }

    /// - Parameters:
    ///   - declared: the types that the handler or the work may publish.
    ///   - losses: the number of losses of the partition when the handler or the work was begun.
    func context(of message: Envelope, sends declared: DeclaredMessages, after losses: Int) -> MessageContext {
        MessageContext(cause: message, bus: bus, logger: logger, time: clock.now()) {
            try declared.check($0.type, causedBy: message)
            try await publish([$0], in: message.partition, after: losses)
        }
    }

    /// Publishes messages before the handler or the work of a message ends, unless another member has got the
    /// partition.
    /// - Throws: ``PartitionLost``, and ``BusError`` with the code `refused` or `malformed`.
    private func publish(_ messages: [Envelope], in partition: Partition, after losses: Int) async throws {
        // While the bus is unavailable, the messages are kept. If the claim is renewed meanwhile, they are published
        // under the new one, even if they have been recorded under the former one.
        let retry = BusRetry(holding: .renewedClaim, logger: logger, clock: clock.pauses)
        try await retry.runUntilShutdown {
            guard let fence = running.fence(of: partition, after: losses) else { throw PartitionLost() }
            try await bus.publish(Batch(messages, checkpoint: fence))
        }
    }

    /// The results of a handler or of work as messages.
    /// - Throws: ``InvalidResult``.
    func envelopes(
        of results: [any HandlerResult], _ context: MessageContext, _ declared: DeclaredMessages,
        mayChangeTimers: Bool = false
    ) throws -> [Envelope] {
        try results.checkTimers(mayChange: mayChangeTimers)
        return try results.map { result in
            let type: MessageType
            let envelope: Envelope
            switch result {
            case let message as any Message:
                type = Swift.type(of: message).type
                envelope = try bus.envelope(message, causedBy: context.cause)
            case let later as LaterCommand:
                type = Swift.type(of: later.command).type
                envelope = try bus.envelope(
                    later.document(of: handlers.name, now: context.time), causedBy: context.cause)
            case let withdrawal as Withdrawal:
                type = withdrawal.type
                envelope = withdrawal.envelope(of: handlers.name, source: bus.source, causedBy: context.cause)
            default:
                throw InvalidResult("returned a result of an unknown type")
            }
            try declared.check(type, causedBy: context.cause)
            return envelope
        }
    }

    /// Calls a handler until it returns, throws a final error, or has used all attempts.
    func attempts(
        whenGivenUp: [Envelope], _ context: MessageContext, _ handler: () async throws -> Handled
    ) async throws -> Handled {
        var attempt = 1
        while true {
            do {
                return try await handler()
            } catch let answer as ApplicationError {
                context.logger.info("the handler answered with an error: \(answer)")
                return Handled(whenGivenUp + loop.answers(answer, to: context.cause))
            } catch let error as InvalidResult {
                var handled = invalid(context.cause, error)
                handled.messages = whenGivenUp + handled.messages
                return handled
            } catch  where !isOfMessage(error) {
                throw error
            } catch {
                context.logger.error("attempt \(attempt) of \(handlers.retries.attempts) failed: \(error)")
            }
            guard let delay = handlers.retries.delay(after: attempt) else { break }
            try await cancelWhenGracefulShutdown { try await clock.pauses.sleep(for: delay) }
            attempt += 1
        }
        var handled = loop.givenUp(
            context.cause, as: "failed", because: "could not handle \(context.cause.type)", attempts: attempt)
        handled.messages = whenGivenUp + handled.messages
        return handled
    }

    func invalid(_ message: Envelope, _ error: InvalidResult) -> Handled {
        logger.error("the handler \(error)", metadata: ["type": "\(message.type)", "id": "\(message.id)"])
        return loop.givenUp(message, as: "invalid", because: "\(error)")
    }

    /// True if an error is about the message or its handler, and not about this process or its bus.
    func isOfMessage(_ error: any Error) -> Bool {
        switch error {
        case is PartitionLost: false
        // If the handler cancels a task of its own, its `CancellationError` is a failure like any other.
        case is CancellationError: !Task.isCancelled
        case let error as BusError: !error.isOfProcess
        default: true
        }
    }
}
