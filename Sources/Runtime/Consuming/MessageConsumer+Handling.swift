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
    func results(of message: Envelope, _ loop: ConsumerLoop) async throws -> Handled {
        guard let route = routes[message.type], !message.isTombstone else { return Handled() }
        let context = MessageContext(cause: message, bus: bus, logger: logger)
        if message.type.kind == .command, message.attributes.isExpired(at: now()) {
            context.logger.info("discarded: expired")
            return Handled(try message.expired(source: bus.source))
        }
        let handler: () async throws -> [any Message]
        do {
            handler = try route(context)
        } catch let error as BusError where error.code == .malformed {
            return loop.malformed(message, error.message)
        }
        return try await attempts(at: handler, context, loop)
    }

    /// Calls a handler until it answers, or has failed often enough.
    private func attempts(
        at handler: () async throws -> [any Message], _ context: MessageContext, _ loop: ConsumerLoop
    ) async throws -> Handled {
        var attempt = 1
        while true {
            do {
                return Handled(try await handler().map { try bus.envelope($0, causedBy: context.cause) })
            } catch let answer as ApplicationError {
                context.logger.error("failed: \(answer)")
                return Handled(loop.answers(answer, to: context.cause))
            } catch  where !isOfMessage(error) {
                throw error
            } catch {
                context.logger.error("failed, attempt \(attempt) of \(retries.attempts): \(error)")
            }
            guard let delay = retries.delay(after: attempt) else { break }
            try await cancelWhenGracefulShutdown { try await clock.sleep(for: delay) }
            attempt += 1
        }
        return loop.givenUp(context.cause, "failed", "could not handle \(context.cause.type)", attempts: attempt)
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
}
