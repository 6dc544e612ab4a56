internal import Contracts
package import EventBus
internal import Foundation
internal import Synchronization

/// Reads the messages of a bus as they come, for a person or a program to see.
package struct Monitor: Sendable {
    package typealias Show = @Sendable (Envelope) async throws -> Void
    package typealias Tell = @Sendable (MonitorNotice) async throws -> Void

    private let bus: any EventBus
    private let selection: MessageSelection
    private let start: MonitorStart
    private let end: MonitorEnd
    private let count: Int?
    private let duration: Duration?

    /// - Parameters:
    ///   - count: after how many messages to end; `nil` for never.
    ///   - duration: after what time to end; `nil` for never.
    package init(
        bus: any EventBus, selection: MessageSelection = MessageSelection(), start: MonitorStart = .now,
        end: MonitorEnd = .never, count: Int? = nil, duration: Duration? = nil
    ) {
        self.bus = bus
        self.selection = selection
        self.start = start
        self.end = end
        self.count = count
        self.duration = duration
    }

    /// Shows each message that matches, in the order of the journal, until there were enough, and tells what was lost.
    ///
    /// It takes the next message when `show` returns: what a slow reader has not taken waits in the journal.
    /// - Throws: ``BusError``, `CancellationError`, and what `show` and `tell` throw.
    package func run(_ show: @escaping Show, tell: @escaping Tell = { _ in }) async throws {
        guard count != 0 else { return }
        let span = try await MonitorSpan(start: start, end: end, duration: duration, on: bus)
        let losses = LossBoard()
        try await withThrowingTaskGroup(of: Outcome.self) { group in
            group.addTask { try await showMessages(of: span, losses, show) }
            group.addTask { try await tellDiscards(of: span, tell) }
            group.addTask {
                for await _ in losses.news { try await Self.tell(losses, tell) }
                throw CancellationError()
            }
            if let deadline = span.deadline {
                group.addTask {
                    try await Task.sleep(until: deadline, clock: .continuous)
                    return .isOver
                }
            }
            // Messages and what was discarded of them are two subscriptions; both end where the span does.
            var open = 2
            while open > 0, let outcome = try await group.next() {
                open = outcome == .isOver ? 0 : open - 1
            }
            group.cancelAll()
        }
        try await Self.tell(losses, tell)
    }

    private enum Outcome {
        /// One of the subscriptions has come to the end of the span.
        case hasEnded
        /// Nothing else is wanted.
        case isOver
    }

    private func showMessages(
        of span: MonitorSpan, _ losses: LossBoard, _ show: Show
    ) async throws -> Outcome {
        var left = count ?? .max
        if start == .last {
            let end = span.end.map { $0.offset < span.now.offset ? $0 : span.now } ?? span.now
            let last = try await LastMessages.read(from: bus, selection, until: end, where: span.contains)
            for message in last.prefix(left) {
                try await show(message)
                left -= 1
            }
        }
        guard left > 0 else { return .isOver }
        return try await bus.withSubscription(
            to: selection.filters, from: span.start, until: span.end, onNotice: losses.note
        ) { messages in
            for try await message in messages where span.contains(message) && selection.matches(message) {
                try await show(message)
                left -= 1
                if left == 0 { return .isOver }
            }
            return .hasEnded
        }
    }

    /// A subscription of its own: with another type in that of the messages, the bus would have to look into the journal for
    /// what came between them.
    private func tellDiscards(of span: MonitorSpan, _ tell: Tell) async throws -> Outcome {
        let filter = MessageFilter.type(DomainEvent.MessageDiscarded.self, subject: selection.subject)
        return try await bus.withSubscription(to: [filter], from: span.start, until: span.end, onNotice: nil) {
            for try await message in $0 where span.contains(message) && !selection.matches(message) {
                // What calls itself so and is something else discards nothing.
                guard let event = try? message.decode(DomainEvent.MessageDiscarded.self) else { continue }
                try await tell(.discarded(id: event.messageID, reason: event.reason))
            }
            return .hasEnded
        }
    }

    private static func tell(_ losses: LossBoard, _ tell: Tell) async throws {
        for notice in losses.take() { try await tell(.lost(notice)) }
    }
}

/// What a monitor tells beside the messages that it shows: somebody who watches wants to know what came to nobody.
package enum MonitorNotice: Hashable, Sendable {
    case lost(SubscriptionNotice)
    /// `event.MessageDiscarded`, where the selection leaves it out.
    case discarded(id: String, reason: String)
}

extension MonitorNotice: CustomStringConvertible {
    /// One line, for a person.
    package var description: String {
        switch self {
        case .lost(.recovered(let type, let count)):
            "\(count) \(type) got lost on the way, and came from the journal"
        case .lost(.removed(let type, let offset)):
            "\(type) up to offset \(offset) are missing: retention removed them before they were read"
        case .discarded(let id, let reason): "message \(id) was discarded: \(reason)".printable
        }
    }
}

/// What a subscription has lost since somebody last looked: summed up by type, so that it takes no more room the worse it
/// gets.
final class LossBoard: Sendable {
    private struct Losses {
        var recovered: [MessageType: Int] = [:]
        var removed: [MessageType: UInt64] = [:]
    }

    private let losses = Mutex(Losses())
    /// Something new stands here.
    let news: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    init() {
        (news, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func note(_ notice: SubscriptionNotice) {
        losses.withLock { losses in
            switch notice {
            case .recovered(let type, let count): losses.recovered[type, default: 0] += count
            case .removed(let type, let offset): losses.removed[type] = max(losses.removed[type] ?? 0, offset)
            }
        }
        wake.yield()
    }

    func take() -> [SubscriptionNotice] {
        let taken = losses.withLock { losses in
            defer { losses = Losses() }
            return losses
        }
        let notices =
            taken.recovered.map { SubscriptionNotice.recovered($0, count: $1) }
            + taken.removed.map { SubscriptionNotice.removed($0, through: $1) }
        return notices.sorted { "\($0)" < "\($1)" }
    }
}
