internal import BusChecker
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

/// One publisher: writes a value down, publishes it, writes down that it was acknowledged, and goes on with the next.
struct PublisherLane: Sendable {
    let role: PublisherRole
    let publisher: String
    let history: HistoryLog
    let logger: Logger
    let flag: StopFlag

    func run(on bus: any EventBus) async throws {
        let padding = role.padding > 0 ? String(repeating: ".", count: role.padding) : nil
        var next = 1
        while !flag.isStopping, next <= role.count ?? .max {
            let end = min(next + role.batch - 1, role.count ?? .max)
            let values = (next...end).map { Value(publisher: publisher, sequence: $0) }
            try history.write(values.map { .invoked($0, document: document(of: $0)) })
            let messages = try values.map { try Probe.message(for: $0, padding: padding, source: bus.source) }
            try await publish(Batch(messages), on: bus)
            try history.write(values.map(HistoryLine.acknowledged))
            next = end + 1
        }
    }

    /// A bus may hold on to what it cannot journal now, or say so: then it is published again.
    private func publish(_ batch: Batch, on bus: any EventBus) async throws {
        while true {
            do {
                try await bus.publish(batch)
                return
            } catch let error as BusError where error.code == .journal {
                logger.warning("publishing again", metadata: ["code": "\(error.code.rawValue)", "error": "\(error)"])
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    /// Each subject has a document of each publisher.
    private func document(of value: Value) -> String? {
        Probe.document(of: value).map { "\($0)/\(publisher)" }
    }
}

/// Holds a leased document until it is asked to end.
package enum LeaseRole {
    /// - Throws: ``BusError``; what the history throws.
    package static func run(name: String, on bus: any EventBus, history: HistoryLog) async throws {
        let lease = try Envelope(ProbeLease(holder: name), source: bus.source)
        try await bus.publish(Batch([lease], isLeased: true))
        try history.write([.live])
        try await Task.sleep(for: .seconds(86400))
    }
}
