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
    /// The pause after each batch of a lane. Without one the consumers, which publish a result of each value, do not keep
    /// up.
    package var pause = Duration.zero
    /// The number of bytes in each message in addition to its value.
    package var padding = 0

    package init(name: String) {
        self.name = name
    }

    /// - Throws: ``BusError``; the errors of the history.
    package func run(on bus: EventBus, history: HistoryLog, logger: Logger) async throws {
        try await StopFlag.watched { flag in
            try await withThrowingTaskGroup(of: Void.self) { group in
                let publisher = RecordingPublisher(bus: bus, history: history, logger: logger)
                for lane in 0..<lanes {
                    let lane = PublisherLane(role: self, name: "\(name).\(lane)", publisher: publisher, flag: flag)
                    group.addTask { try await lane.run() }
                }
                try await group.waitForAll()
            }
        }
    }
}

/// One task of a publisher, which publishes one batch after the other.
struct PublisherLane: Sendable {
    let role: PublisherRole
    let name: String
    let publisher: RecordingPublisher
    let flag: StopFlag

    func run() async throws {
        let padding = role.padding > 0 ? String(repeating: ".", count: role.padding) : nil
        var next = 1
        while !flag.isStopping, next <= role.count ?? .max {
            let end = min(next + role.batch - 1, role.count ?? .max)
            let values = (next...end).map { Value(publisher: name, sequence: $0) }
            let source = publisher.bus.source
            let messages = try values.map { try Probe.message(for: $0, padding: padding, source: source) }
            try await publisher.publish(Batch(messages), of: values.map { ($0, document(of: $0)) })
            next = end + 1
            if role.pause > .zero { try await Task.sleep(for: role.pause) }
        }
    }

    /// Each publisher has one document for each subject.
    private func document(of value: Value) -> String? {
        Probe.document(of: value).map { "\($0)/\(name)" }
    }
}

/// Publishes messages with values. It writes the values to the history before the bus gets them, and again after the
/// bus has acknowledged them.
struct RecordingPublisher: Sendable {
    let bus: EventBus
    let history: HistoryLog
    let logger: Logger

    /// Publishes the messages of a visit.
    /// - Returns: The id of the last message.
    func publish(_ messages: [Envelope]) async throws -> String? {
        let values = messages.compactMap { Value($0.id) }
        try await publish(Batch(messages), of: values.map { ($0, nil) })
        return messages.last?.id
    }

    /// Publishes a batch. If the bus reports that the journal cannot be written, the batch is published again.
    func publish(_ batch: Batch, of values: [(value: Value, document: String?)]) async throws {
        try history.write(values.map { .invoked($0.value, document: $0.document) })
        while true {
            do {
                let epoch = try await bus.publish(batch).epoch
                return try history.write(values.map { .acknowledged($0.value, epoch: epoch) })
            } catch let error as BusError where error.code == .journal {
                logger.warning("publishing again", metadata: ["code": "\(error.code.rawValue)", "error": "\(error)"])
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }
}

/// Holds a leased document until it is asked to end.
package enum LeaseRole {
    /// - Throws: ``BusError``; the errors of the history.
    package static func run(name: String, on bus: EventBus, history: HistoryLog) async throws {
        let lease = try Envelope(ProbeLease(holder: name), source: bus.source)
        try await bus.publish(Batch([lease], isLeased: true))
        try history.write([.live])
        try await Task.sleep(for: .seconds(86400))
    }
}
