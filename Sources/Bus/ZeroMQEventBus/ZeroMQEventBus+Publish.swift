internal import BusProtocol
public import EventBus
internal import Foundation

extension ZeroMQEventBus {
    @discardableResult
    public func publish(_ batch: Batch) async throws -> Position {
        let messages = try batch.messages.map(PublishedMessage.init)
        guard messages.count <= Limits.batchCount else {
            throw BusError(.refused, "a batch has at most \(Limits.batchCount) messages, not \(messages.count)")
        }
        do {
            for message in messages {
                _ = try message.validated()
            }
        } catch {
            throw BusError(error)
        }
        try await waitForRoom()
        let request = PublishRequest(
            producer: producer, sequence: 0, isLeased: batch.isLeased,
            checkpoint: batch.checkpoint.map(CheckpointFrame.init), messages: messages)
        guard case .published(let epoch, let offset) = try await ask(.publish(request)) else {
            throw BusError(.refused, "the broker answered a batch with something else")
        }
        return Position(epoch: epoch, offset: offset)
    }

    public func documents(matching filters: [MessageFilter]) async throws -> [Envelope] {
        let prefixes = filters.topicPrefixes.filter { $0.hasPrefix("\(MessageKind.document.rawValue).") }
        guard !prefixes.isEmpty else { return [] }
        var documents: [Envelope] = []
        var after: UInt64 = 0
        while true {
            let request = PageRequest(epoch: 0, after: after, prefixes: prefixes)
            guard case .page(let page) = try await ask(.documents(request)) else {
                throw BusError(.refused, "the broker answered a page with something else")
            }
            documents += try page.messages.map { try $0.envelope() }
            after = page.through
            if page.isComplete { break }
        }
        return documents.filter { document in filters.contains { $0.matches(document) } }
    }

    public func claim(consumer: String) async throws -> ConsumerClaim {
        let request = ClaimRequest(token: ProducerID(), consumer: consumer)
        guard case .claimed(let ownerEpoch, let epoch, let offset) = try await ask(.claim(request)) else {
            throw BusError(.refused, "the broker answered a claim with something else")
        }
        return ConsumerClaim(
            consumer: consumer, ownerEpoch: ownerEpoch, position: Position(epoch: epoch, offset: offset))
    }
}

extension CheckpointFrame {
    fileprivate init(_ checkpoint: Checkpoint) {
        self.init(
            consumer: checkpoint.claim.consumer, ownerEpoch: checkpoint.claim.ownerEpoch,
            epoch: checkpoint.position.epoch, offset: checkpoint.position.offset)
    }
}
