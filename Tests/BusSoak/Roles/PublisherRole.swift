internal import BusChecker
package import EventBus
package import Logging

/// Publishes unique values until it is asked to end (SIGTERM), or a given number of them. Ends when all are
/// acknowledged.
package struct PublisherRole: Sendable {
    /// The name of this incarnation. The names of its publishers begin with this name.
    package var name: String
    /// The number of tasks that publish at the same time. Each waits for its own acknowledgements.
    package var lanes = 8
    /// The number of values in one batch.
    package var batch = 4
    /// The number of values of each lane; nil for no limit.
    package var count: Int?
    /// The number of bytes in each message in addition to its value.
    package var padding = 0

    package init(name: String) {
        self.name = name
    }

    /// - Throws: ``BusError``; the errors of the history.
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

/// One publisher. For each batch it writes the values to the history, publishes them, and writes that they were
/// acknowledged.
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

    /// Publishes a batch. If the bus reports that the journal cannot be written, the batch is published again.
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

    /// Each publisher has one document for each subject.
    private func document(of value: Value) -> String? {
        Probe.document(of: value).map { "\($0)/\(publisher)" }
    }
}

/// Holds a leased document until it is asked to end.
package enum LeaseRole {
    /// - Throws: ``BusError``; the errors of the history.
    package static func run(name: String, on bus: any EventBus, history: HistoryLog) async throws {
        let lease = try Envelope(ProbeLease(holder: name), source: bus.source)
        try await bus.publish(Batch([lease], isLeased: true))
        try history.write([.live])
        try await Task.sleep(for: .seconds(86400))
    }
}
