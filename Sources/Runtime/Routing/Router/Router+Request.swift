internal import Contracts
internal import EventBus
internal import Navigation

extension Router {
    /// Sends an action to the machine, and waits for the state that it led to or for the reason why it led to none.
    func request(_ action: JSONValue, from instance: String?) async throws -> Int {
        let origin = Origin(platform: platform, device: device, instance: instance)
        // The subscription comes first: whatever answers the command comes after it.
        return try await bus.withSubscription(to: answers, from: .now) { messages in
            let command = try await bus.send(
                Command.NavigationRequested(action: action), subject: session, origin: origin, lifetime: deadline)
            switch try await withDeadline({ try await answer(to: command.id, in: messages) }) {
            case .done(let revision): return revision
            case .discarded(let reason): throw try await refusal(reason, of: instance)
            }
        }
    }

    private var answers: [MessageFilter] {
        [
            .type(Document.NavigationState.self, subject: session),
            .type(DomainEvent.MessageDiscarded.self, subject: session),
        ]
    }

    private func answer(to command: String, in messages: MessageSequence) async throws -> RouterAnswer {
        for try await message in messages where !message.isTombstone {
            switch message.type {
            case Document.NavigationState.type where message.attributes.key == platform:
                let snapshot = try message.decode(Document.NavigationState.self).snapshot
                // That a guard holds the command back is a change of its own, and no answer yet.
                if snapshot.cause == command, !snapshot.holds(command) { return .done(snapshot.revision) }
            case DomainEvent.MessageDiscarded.type:
                let discarded = try message.decode(DomainEvent.MessageDiscarded.self)
                if discarded.messageID == command { return .discarded(discarded.reason) }
            default: break
            }
        }
        throw RouterError.unanswered(after: deadline)
    }

    private func withDeadline(
        _ body: @escaping @Sendable () async throws -> RouterAnswer
    ) async throws -> RouterAnswer {
        try await withThrowingTaskGroup(of: RouterAnswer.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await clock.sleep(for: deadline)
                throw RouterError.unanswered(after: deadline)
            }
            defer { group.cancelAll() }
            guard let answer = try await group.next() else { throw CancellationError() }
            return answer
        }
    }

    /// An instance never comes back: if it is gone by now, that is the reason, or has become as good a one.
    private func refusal(_ reason: String, of instance: String?) async throws -> RouterError {
        let prefix = "\(Command.NavigationRequested.type): "
        let reason = reason.hasPrefix(prefix) ? String(reason.dropFirst(prefix.count)) : reason
        guard let instance, let state = try await snapshot()?.state, !state.isStanding(instance) else {
            return .refused(reason)
        }
        return .late(reason)
    }

    func snapshot() async throws -> NavigationSnapshot? {
        try await bus.document(Document.NavigationState.self, subject: session, key: platform)?.snapshot
    }
}

extension NavigationSnapshot {
    /// Whether a guard holds this message back.
    fileprivate func holds(_ message: String) -> Bool {
        state.attempt?.queue.contains { $0.id == message } ?? false
    }
}
