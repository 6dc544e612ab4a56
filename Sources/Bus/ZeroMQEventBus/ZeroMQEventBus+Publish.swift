internal import BusProtocol
public import EventBus
internal import Foundation

extension ZeroMQEventBus {
    @discardableResult
    public func publish(_ batch: Batch) async throws -> Position {
        try batch.validate()
        let request: PublishRequest
        do {
            request = PublishRequest(
                producer: producer, sequence: 0, isLeased: batch.isLeased, isTransient: batch.isTransient,
                checkpoint: batch.checkpoint.map(CheckpointFrame.init),
                rejection: batch.rejection.map(RejectionFrame.init), settledLetters: batch.settledLetters,
                messages: try PackedMessages(batch.messages, isTransient: batch.isTransient))
            try request.validate()
        } catch {
            throw BusError(error)
        }
        let leases = try leased.change(by: batch)
        guard case .published(let epoch, let offset) = try await ask(.publish(request), leases: leases)
        else {
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
        return documents.filter { document in
            // One that cannot be read must not keep anybody from the others.
            if let header = document.unreadableHeader { skipped.note(header.reason) }
            return document.unreadableHeader == nil && filters.contains { $0.matches(document) }
        }
    }

    public func document(_ type: MessageType, subject: String, key: String?) async throws -> Envelope? {
        try await documents(matching: [.type(type, subject: subject)]).last { $0.attributes.key == key }
    }

    public func newest(matching filters: [MessageFilter]) async throws -> Position {
        let heads = try await heads(matching: filters)
        return Position(epoch: heads.epoch, offset: heads.offsets.values.max() ?? 0)
    }

    public func newestOfEachType(matching filters: [MessageFilter]) async throws -> [MessageType: Position] {
        let heads = try await heads(matching: filters)
        return heads.offsets.reduce(into: [:]) { newest, head in
            guard let type = Topic(head.key)?.type, head.value > newest[type]?.offset ?? 0 else { return }
            newest[type] = Position(epoch: heads.epoch, offset: head.value)
        }
    }

    private func heads(matching filters: [MessageFilter]) async throws -> Heads {
        let request = PageRequest(epoch: 0, after: 0, prefixes: filters.topicPrefixes)
        guard case .heads(let heads) = try await ask(.heads(request)) else {
            throw BusError(.refused, "the broker answered heads with something else")
        }
        return heads
    }

    public func consumers() async throws -> [DurableConsumer] {
        throw BusError(.refused, "the broker cannot list its consumers yet")
    }

    public func forget(consumer: String) async throws {
        throw BusError(.refused, "the broker cannot forget the consumer '\(consumer)' yet")
    }

    public func deadLetters(of consumer: String?) async throws -> [DeadLetter] {
        var letters: [DeadLetter] = []
        while true {
            let request = LettersRequest(after: letters.last?.id ?? 0, consumer: consumer ?? "")
            guard case .letters(let page) = try await ask(.letters(request)) else {
                throw BusError(.refused, "the broker answered dead letters with something else")
            }
            letters += try page.letters.map(DeadLetter.init)
            if page.isComplete || page.letters.isEmpty { return letters }
        }
    }
}

extension CheckpointFrame {
    fileprivate init(_ checkpoint: Checkpoint) {
        self.init(
            consumer: checkpoint.claim.consumer, ownerEpoch: checkpoint.claim.ownerEpoch,
            epoch: checkpoint.position.epoch, offset: checkpoint.position.offset, settled: checkpoint.settled,
            partition: checkpoint.partition)
    }
}

extension RejectionFrame {
    fileprivate init(_ rejection: Rejection) {
        self.init(
            attempts: UInt16(clamping: rejection.attempts), code: rejection.code.prefix(utf8: Limits.nameLength),
            reason: rejection.reason.prefix(utf8: Limits.reasonSize))
    }
}

extension DeadLetter {
    fileprivate init(_ letter: Letters.Letter) throws {
        self.init(
            id: letter.id, consumer: letter.consumer,
            rejection: Rejection(
                code: letter.rejection.code, reason: letter.rejection.reason, attempts: Int(letter.rejection.attempts)),
            time: Date(timeIntervalSince1970: Double(letter.time) / 1000), message: try letter.message.envelope())
    }
}
