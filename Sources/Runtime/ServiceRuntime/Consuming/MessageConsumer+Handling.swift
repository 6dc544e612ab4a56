internal import Contracts
internal import EventBus
internal import Logging
internal import ServiceLifecycle

// What becomes of a message, always in one batch with the progress made:
//
// - handled: what its handler gave back;
// - a handler that throws an `ApplicationError`: that error. It is an answer, and final;
// - a handler that throws anything else is called again after growing delays, see `RetryPolicy`; what it threw last makes
//   the message a dead letter, `<service>.failed`;
// - a header that cannot be read, or data that is not what the type says: a dead letter at once, `message.malformed`;
// - results that the broker refuses: a dead letter at once, `<service>.refused`;
// - a command that has expired: `event.MessageDiscarded`;
// - a message that is sent again to another consumer, or a document that was withdrawn: nothing.
//
// A message that retention has removed meanwhile becomes no dead letter: there is nothing to keep. With a dead letter goes
// an `ApplicationError` of the same code, unless the message is an error itself: an error about an error would feed itself.
// What was thrown is logged, not published: only an error that was made to be read by the person in front of a view is
// shown there.
//
// A graceful shutdown ends the waiting for another attempt; the message then has no result, and is handled again after the
// next start. Cancellation and errors of the bus, as far as they are none of the message, go out to `run()`.
extension MessageConsumer {
    func handle(_ message: Envelope, _ checkpoint: Checkpoint) async throws -> ConsumerMetrics.Outcome {
        guard message.concerns(consumer) else {
            try await commit(MessageOutcome(), checkpoint)
            return .passed
        }
        var outcome = try await outcome(of: message)
        do {
            try await commit(outcome, checkpoint)
        } catch let error as BusError where error.code == .refused && outcome.rejection == nil {
            // To die of it would be to die of it again after every restart.
            context(of: message).logger.error("the results are refused: \(error)")
            outcome = try givenUp(
                message, "\(service).refused", "what \(service) answered to \(message.type) is refused",
                hint: "see its log")
            try await commit(outcome, checkpoint)
        }
        return outcome.rejection == nil ? .handled : .failed
    }

    /// While the journal takes nothing the result is kept: to call the handler again would be to do to the outside again
    /// what is done.
    private func commit(_ outcome: MessageOutcome, _ checkpoint: Checkpoint) async throws {
        do {
            try await publish(Batch(outcome.messages, checkpoint: checkpoint, rejection: outcome.rejection))
        } catch let error as BusError where error.code == .letter && outcome.rejection != nil {
            // Retention may have removed the message while it was tried: there is nothing left to keep.
            logger.error("there is no dead letter: \(error)")
            try await publish(Batch(outcome.messages, checkpoint: checkpoint))
        }
    }

    private func publish(_ batch: Batch) async throws {
        try await BusRetry(logger: logger, clock: clock, after: [.journal]).runUntilShutdown {
            _ = try await bus.publish(batch)
        }
    }

    private func outcome(of message: Envelope) async throws -> MessageOutcome {
        guard let route = routes[message.type], !message.isTombstone else { return MessageOutcome() }
        let context = context(of: message)
        if message.type.kind == .command, message.attributes.isExpired(at: now()) {
            context.logger.info("discarded: expired")
            let discarded = DomainEvent.MessageDiscarded(messageID: message.id, reason: "expired")
            return MessageOutcome(messages: [try bus.envelope(discarded, causedBy: message)])
        }
        let handler: () async throws -> [any Message]
        do {
            handler = try route(context)
        } catch let error as BusError where error.code == .malformed {
            context.logger.error("given up: \(error)")
            return try givenUp(message, "message.malformed", error.message)
        }
        return try await attempts(at: handler, context)
    }

    /// Calls a handler until it answers, or has failed often enough.
    private func attempts(
        at handler: () async throws -> [any Message], _ context: MessageContext
    ) async throws -> MessageOutcome {
        var attempt = 1
        while true {
            do {
                return MessageOutcome(messages: try envelopes(try await handler(), causedBy: context.cause))
            } catch let answer as ApplicationError {
                context.logger.error("failed: \(answer)")
                let isAboutError = context.cause.type.kind == .error
                return MessageOutcome(messages: isAboutError ? [] : try envelopes([answer], causedBy: context.cause))
            } catch  where !isOfMessage(error) {
                throw error
            } catch {
                context.logger.error("failed, attempt \(attempt) of \(retries.attempts): \(error)")
            }
            guard let delay = retries.delay(after: attempt) else { break }
            try await cancelWhenGracefulShutdown { try await clock.sleep(for: delay) }
            attempt += 1
        }
        return try givenUp(
            context.cause, "\(service).failed", "\(service) could not handle \(context.cause.type)",
            hint: "see its log",
            attempts: attempt)
    }

    /// Whether an error tells of the message and its handler, and not of this process or its bus.
    private func isOfMessage(_ error: any Error) -> Bool {
        switch error {
        // Cancelled work of the handler's own is a failure like any other.
        case is CancellationError: !Task.isCancelled
        case let error as BusError: !error.isOfProcess
        default: true
        }
    }

    private func givenUp(
        _ message: Envelope, _ code: String, _ problem: String, hint: String? = nil, attempts: Int = 1
    ) throws -> MessageOutcome {
        let error = ApplicationError(
            code: code, message: problem, recovery: hint.map { "\($0) for message \(message.id)" })
        let reason = [problem, hint].compactMap(\.self).joined(separator: "; ")
        return MessageOutcome(
            messages: message.type.kind == .error ? [] : try envelopes([error], causedBy: message),
            rejection: Rejection(code: code, reason: reason, attempts: attempts))
    }

    private func envelopes(_ messages: [any Message], causedBy cause: Envelope) throws -> [Envelope] {
        try messages.map { try bus.envelope($0, causedBy: cause) }
    }

    private func context(of message: Envelope) -> MessageContext {
        MessageContext(cause: message, bus: bus, logger: logger)
    }

    /// The process's name, the first part of its source.
    private var service: Substring { bus.source.prefix { $0 != "/" } }
}
