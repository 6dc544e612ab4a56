internal import Contracts
internal import EventBus
internal import Monitor

/// What comes of a message: the first of a type that carries its correlation, however many processes lie between.
struct Outcome: Sendable {
    let bus: any EventBus
    /// As it was published: only what is journalled behind it is looked at.
    let cause: Envelope
    let awaited: MessagePattern

    /// - Throws: ``CommandError`` when an error came of it instead, or nothing in time.
    func message(within timeout: Duration) async throws -> Envelope {
        try await withThrowingTaskGroup(of: Envelope.self) { group in
            group.addTask { try await first() }
            group.addTask {
                try await Task.sleep(for: timeout)
                throw CommandError(
                    code: "no-outcome", "no \(awaited) came of \(cause.type) within \(timeout.formattedSeconds)",
                    recovery: "see 'segue services' for who handles it", status: .temporaryFailure)
            }
            defer { group.cancelAll() }
            guard let message = try await group.next() else { throw CancellationError() }
            return message
        }
    }

    private func first() async throws -> Envelope {
        let start = cause.position.map(StartPosition.after) ?? .now
        return try await bus.withSubscription(to: [.all], from: start) { messages in
            for try await message in messages where message.attributes.correlationID == cause.id {
                if awaited.matches(message.type) { return message }
                if message.type == ApplicationError.type { throw failure(try message.decode()) }
            }
            throw BusError(.closed, "the bus was closed")
        }
    }

    private func failure(_ error: ApplicationError) -> CommandError {
        CommandError(code: error.code, "\(cause.type) failed: \(error.message)".printable, recovery: error.recovery)
    }
}

extension Duration {
    fileprivate var formattedSeconds: String { "\(self / .seconds(1)) s" }
}
