internal import Contracts
internal import EventBus

/// A durable consumer and the processes on the bus that run it.
struct ConsumerStatus: Hashable, Sendable {
    let consumer: DurableConsumer
    let services: [Document.Presence]

    /// A process may share a consumer without a presence.
    var isRun: Bool { !services.isEmpty || consumer.memberCount > 0 }

    static func all(_ consumers: [DurableConsumer], _ presences: [Document.Presence]) -> [ConsumerStatus] {
        consumers.map { consumer in
            ConsumerStatus(
                consumer: consumer,
                services: presences.filter { $0.runs(consumer: consumer.name) }
                    .sorted { ($0.name, $0.instance) < ($1.name, $1.instance) })
        }
    }

    static func all(on bus: any EventBus) async throws -> [ConsumerStatus] {
        // A process that begins meanwhile is among the presences at most: it must not look as if nobody ran its consumer.
        let consumers = try await bus.consumers()
        let documents = try await bus.documents(matching: [.type(Document.Presence.self)])
        return all(consumers, documents.compactMap { try? $0.decode(Document.Presence.self) })
    }
}

extension ConsumerStatus: Encodable {
    private enum CodingKeys: CodingKey {
        case consumer, position, lag, members, services
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(consumer.name, forKey: .consumer)
        try container.encode(SentMessage.JournalPosition(consumer.position), forKey: .position)
        try container.encode(consumer.lag, forKey: .lag)
        try container.encode(consumer.memberCount, forKey: .members)
        try container.encode(services.map { "\($0.name)/\($0.instance)" }, forKey: .services)
    }
}
