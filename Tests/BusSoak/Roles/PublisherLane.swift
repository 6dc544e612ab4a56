internal import BusChecker
internal import EventBus
internal import Logging

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
