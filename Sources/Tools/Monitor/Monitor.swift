internal import Contracts
package import EventBus
internal import Foundation
internal import Support
internal import Synchronization

/// Reads messages of a bus, and shows the messages that match a selection.
package struct Monitor: Sendable {
    package typealias Show = @Sendable (Envelope) async throws -> Void
    package typealias Tell = @Sendable (MonitorNotice) async throws -> Void

    private let bus: EventBus
    private let selection: MessageSelection
    private let start: MonitorStart
    private let end: MonitorEnd
    private let count: Int?
    private let duration: Duration?

    /// - Parameters:
    ///   - count: The number of messages after which the monitor ends. Nil for no limit.
    ///   - duration: The time after which the monitor ends. Nil for no limit.
    package init(
        bus: EventBus, selection: MessageSelection = MessageSelection(), start: MonitorStart = .now,
        end: MonitorEnd = .never, count: Int? = nil, duration: Duration? = nil
    ) {
        self.bus = bus
        self.selection = selection
        self.start = start
        self.end = end
        self.count = count
        self.duration = duration
    }

    /// Calls `show` with each matching message, and `tell` with notices of lost or discarded messages. Returns when the
    /// count, the duration or the end is reached.
    ///
    /// The monitor handles the next message when `show` has returned.
    /// - Throws: ``BusError``, `CancellationError`, and the errors of `show` and `tell`.
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
            // The messages and the discard events are two subscriptions; both end at the end of the span.
            var open = 2
            while open > 0, let outcome = try await group.next() {
                open = outcome == .isOver ? 0 : open - 1
            }
            group.cancelAll()
        }
        try await Self.tell(losses, tell)
    }

    private enum Outcome {
        /// One of the two subscriptions has reached the end of the span.
        case hasEnded
        /// The monitor has shown `count` messages, or its duration or end time has passed.
        case isOver
    }

    private func showMessages(
        of span: MonitorSpan, _ losses: LossBoard, _ show: Show
    ) async throws -> Outcome {
        var left = count ?? .max
        if start == .last {
            let end = span.end.map { $0.offset < span.now.offset ? $0 : span.now } ?? span.now
            let last = try await LastMessageOfEachType.read(from: bus, selection, until: end, where: span.contains)
            for message in last.prefix(left) {
                try await show(message)
                left -= 1
            }
        }
        guard left > 0 else { return .isOver }
        return try await bus.withSubscription(
            to: selection.filters, from: span.start, until: span.end, onNotice: losses.record
        ) { messages in
            for try await message in messages where span.contains(message) && selection.matches(message) {
                try await show(message)
                left -= 1
                if left == 0 { return .isOver }
            }
            return .hasEnded
        }
    }

    /// Reports discarded messages. A separate subscription reads the events about them, because the selection may not
    /// match these events.
    private func tellDiscards(of span: MonitorSpan, _ tell: Tell) async throws -> Outcome {
        let filter = MessageFilter.type(DomainEvent.MessageDiscarded.self, subject: selection.subject)
        return try await bus.withSubscription(to: [filter], from: span.start, until: span.end, onNotice: nil) {
            for try await message in $0 where span.contains(message) && !selection.matches(message) {
                // An `event.MessageDiscarded` that cannot be decoded is skipped.
                guard let event = try? message.decode(DomainEvent.MessageDiscarded.self) else { continue }
                try await tell(.discarded(id: event.messageID, reason: event.reason))
            }
            return .hasEnded
        }
    }

    private static func tell(_ losses: LossBoard, _ tell: Tell) async throws {
        for notice in losses.drain() { try await tell(.lost(notice)) }
    }
}

/// A notice of a monitor about messages that were lost or discarded.
package enum MonitorNotice: Hashable, Sendable {
    case lost(SubscriptionNotice)
    /// The content of an `event.MessageDiscarded` that the selection does not match.
    case discarded(id: String, reason: String)
}

extension MonitorNotice: CustomStringConvertible {
    /// The notice on one line, for a person.
    package var description: String {
        switch self {
        case .lost(.recovered(let type, let count)):
            "the feed dropped \(count) \(type); read from the journal instead"
        case .lost(.removed(let type, let offset)):
            "\(type) up to offset \(offset) are missing: retention removed them before they were read"
        case .discarded(let id, let reason): "message \(id) was discarded: \(reason)".printable
        }
    }
}

/// The losses of a subscription that have not been drained yet. The losses of each type are added up.
final class LossBoard: Sendable {
    private struct Losses {
        var recovered: [MessageType: Int] = [:]
        var removed: [MessageType: UInt64] = [:]
    }

    private let losses = Mutex(Losses())
    /// Yields an element when there are new losses.
    let news: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    init() {
        (news, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func record(_ notice: SubscriptionNotice) {
        losses.withLock { losses in
            switch notice {
            case .recovered(let type, let count): losses.recovered[type, default: 0] += count
            case .removed(let type, let offset): losses.removed[type] = max(losses.removed[type] ?? 0, offset)
            }
        }
        wake.yield()
    }

    /// Removes and returns the losses: at most one notice of each kind for each type.
    func drain() -> [SubscriptionNotice] {
        let drained = losses.withLock { losses in
            defer { losses = Losses() }
            return losses
        }
        let notices =
            drained.recovered.map { SubscriptionNotice.recovered($0, count: $1) }
            + drained.removed.map { SubscriptionNotice.removed($0, through: $1) }
        return notices.sorted { "\($0)" < "\($1)" }
    }
}
