package import EventBus
package import Logging

/// Publishes unique values until it is asked to end (SIGTERM), or as many as it is told; ends when all are acknowledged.
package struct PublisherRole: Sendable {
    /// This incarnation's name, the first part of its values' publishers.
    package var name: String
    /// How many publish at the same time: each waits for its own acknowledgements, together they keep the outbox full.
    package var lanes = 8
    /// Values that go out in one batch.
    package var batch = 4
    /// Values of each lane; nil for as many as there is time for.
    package var count: Int?
    /// Bytes that each message carries beside its value.
    package var padding = 0

    package init(name: String) {
        self.name = name
    }

    /// - Throws: ``BusError``; what the history throws.
    package func run(on bus: any EventBus, history: HistoryLog, logger: Logger) async throws {
        try await StopFlag.watched { flag in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for lane in 0..<lanes {
                    let lane = PublisherLane(
                        role: self, publisher: "\(name).\(lane)", history: history, logger: logger, flag: flag)
                    group.addTask { try await lane.run(on: bus) }
                }
                try await group.waitForAll()
            }
        }
    }
}
