internal import BusChecker
internal import Contracts
package import EventBus
package import Logging

/// Uses sessions of its own until it is asked to end (SIGTERM). In each session it publishes some messages, waits for
/// the state that the last of them leads to, and continues.
package struct VisitorRole: Sendable {
    /// The name of this incarnation. The names of its sessions begin with this name.
    private let name: String
    /// The number of sessions.
    private let count: Int

    package init(name: String, count: Int = 6) {
        self.name = name
        self.count = count
    }

    /// - Throws: ``BusError``; the errors of the history.
    package func run(on bus: EventBus, history: HistoryLog, logger: Logger) async throws {
        let publisher = RecordingPublisher(bus: bus, history: history, logger: logger)
        try await StopFlag.watched { flag in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<count {
                    let visit = Visit(session: "\(name).\(number)", source: bus.source)
                    group.addTask { try await run(visit, publisher, flag) }
                }
                try await group.waitForAll()
            }
        }
    }

    /// The pause of a person between two steps. Without it, the load would depend on the speed of the machine.
    private static let pause: Duration = .milliseconds(100)

    private func run(_ visit: Visit, _ publisher: RecordingPublisher, _ flag: StopFlag) async throws {
        let states: [MessageFilter] = [.type(Document.NavigationState.self, subject: visit.session)]
        try await publisher.bus.withSubscription(to: states, from: .now) { messages in
            var visit = visit
            var last = try await publisher.publish(visit.next())
            for try await message in messages where !message.isTombstone {
                visit.apply(try message.decode(Document.NavigationState.self).snapshot)
                guard message.attributes.causationID == last else { continue }
                if flag.isStopping { return }
                try await Task.sleep(for: Self.pause)
                last = try await publisher.publish(visit.next())
            }
        }
    }
}
