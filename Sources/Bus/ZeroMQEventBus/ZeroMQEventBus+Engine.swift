internal import BusFormat
internal import BusProtocol
package import EventBus
internal import Foundation
internal import Support

/// The methods of ``EventBusEngine`` that consist of one request, or of several in a row.
extension ZeroMQEventBus {
    @discardableResult
    package func publish(_ batch: Batch) async throws -> Position {
        let (epoch, offset) = try await publish(batch, isTransient: false)
        return Position(epoch: epoch, offset: offset)
    }

    package func publishTransient(_ messages: [Envelope]) async throws {
        _ = try await publish(Batch(messages), isTransient: true)
    }

    /// - Returns: The end of the batch in the journal; offset 0 if it is transient.
    private func publish(_ batch: Batch, isTransient: Bool) async throws -> (epoch: UInt64, offset: UInt64) {
        try batch.validate()
        let request: PublishRequest
        do {
            request = PublishRequest(
                producer: producer, sequence: 0, isLeased: batch.isLeased, isTransient: isTransient,
                checkpoint: batch.checkpoint.map(CheckpointFrame.init),
                rejection: batch.rejection.map(RejectionFrame.init), resolvedDeadLetters: batch.resolvedDeadLetters,
                messages: try PackedMessages(batch.messages, isTransient: isTransient))
            try request.validate()
        } catch {
            throw BusError(error)
        }
        // The request has only the epoch of the position.
        do { try batch.checkpoint.map(CheckpointAdmission.init)?.requireOneEpoch() } catch { throw BusError(error) }
        guard case .published(let epoch, let offset) = try await ask(.publish(request), publishing: batch)
        else {
            throw BusError(.refused, "the broker sent an unexpected reply to a batch")
        }
        return (epoch, offset)
    }

    package func documents(
        matching filters: [MessageFilter], after offset: UInt64, limit: Int
    ) async throws -> [Envelope] {
        let filters = filters.filter { $0.kind ?? .document == .document }
        guard !filters.isEmpty else { return [] }
        let names = filters.filter { $0.type != nil && $0.subject != nil }
        guard names.count == filters.count else {
            let prefixes = filters.topicPrefixes.filter { $0.begins(with: "\(MessageKind.document.rawValue).") }
            return try await pages(of: filters, after: offset, limit: limit) {
                .documents(PageRequest(epoch: 0, after: $0, prefixes: prefixes))
            }
        }
        // Documents of one type and subject are looked up: their cost does not depend on the number of sessions.
        var documents: [Envelope] = []
        for name in Set(names) {
            guard case .type(let type, let subject?) = name else { continue }
            documents += try await pages(of: [name], after: offset, limit: limit) { after throws(ProtocolError) in
                .documentsOfSubject(try SubjectRequest(after: after, type: type, subject: subject))
            }
        }
        documents.sort { $0.position?.offset ?? 0 < $1.position?.offset ?? 0 }
        return Array(documents.prefix(limit))
    }

    private func pages(
        of filters: [MessageFilter], after offset: UInt64, limit: Int,
        _ request: (_ after: UInt64) throws(ProtocolError) -> Request
    ) async throws -> [Envelope] {
        var documents: [Envelope] = []
        var after = offset
        while documents.count < limit {
            let next: Request
            do { next = try request(after) } catch { throw BusError(error) }
            guard case .page(let page) = try await ask(next) else {
                throw BusError(.refused, "the broker sent an unexpected reply to a request for documents")
            }
            documents += try page.messages.map { try $0.envelope() }.filter { document in
                // A document that cannot be read must not hide the others.
                if let header = document.unreadableHeader { skipped.record(header.reason) }
                return document.unreadableHeader == nil && filters.contains { $0.matches(document) }
            }
            after = page.through
            if page.isComplete { break }
        }
        return Array(documents.prefix(limit))
    }

    package func document(_ type: MessageType, subject: String, key: String?) async throws -> Envelope? {
        let request: DocumentRequest
        do {
            request = try DocumentRequest(type: type, subject: subject, key: key ?? "")
        } catch {
            throw BusError(error)
        }
        guard case .page(let page) = try await ask(.document(request)) else {
            throw BusError(.refused, "the broker sent an unexpected reply to a request for one document")
        }
        guard let document = try page.messages.first?.envelope() else { return nil }
        if let header = document.unreadableHeader {
            skipped.record(header.reason)
            return nil
        }
        // The broker does not decode headers, so the header may have another subject or key.
        guard document.subject == subject, document.attributes.key ?? "" == request.key else {
            let found = "key '\(document.attributes.key ?? "")' of session '\(document.subject)'"
            skipped.record("\(type), key '\(request.key)' of session '\(subject)', has a header with \(found)")
            return nil
        }
        return document
    }

    package func end() async throws -> Position {
        switch try await ask(.end, unlessRefusedWith: .operation) {
        case .end(let epoch, let offset): return Position(epoch: epoch, offset: offset)
        // An older broker tells the end only in its reply to a batch, which it also records: the batch has a sequence.
        case nil: return try await publish(Batch([]))
        default: throw BusError(.refused, "the broker sent an unexpected reply to a request for the journal's end")
        }
    }

    package func newestOfEachType(matching filters: [MessageFilter]) async throws -> [MessageType: Position] {
        let heads = try await heads(matching: filters)
        return heads.offsets.reduce(into: [:]) { newest, head in
            guard let type = Topic(head.key)?.type, head.value > newest[type]?.offset ?? 0 else { return }
            newest[type] = Position(epoch: heads.epoch, offset: head.value)
        }
    }

    private func heads(matching filters: [MessageFilter]) async throws -> Heads {
        let request = PageRequest(epoch: 0, after: 0, prefixes: filters.topicPrefixes)
        guard case .heads(let heads) = try await ask(.heads(request)) else {
            throw BusError(.refused, "the broker sent an unexpected reply to a request for the newest messages")
        }
        return heads
    }

    package func lag(after position: Position, matching filters: [MessageFilter]) async throws -> UInt64 {
        let request = PageRequest(epoch: position.epoch, after: position.offset, prefixes: filters.topicPrefixes)
        guard case .counted(_, let count) = try await ask(.count(request)) else {
            throw BusError(.refused, "the broker sent an unexpected reply to a request for a number of messages")
        }
        return count
    }

    package nonisolated func position(_ position: Position, offsetBy distance: Int) -> Position {
        // The broker gives each recorded message the next offset.
        let (sum, overflows) = position.offset.addingReportingOverflow(UInt64(distance.magnitude))
        let offset =
            if distance < 0 {
                position.offset - min(position.offset, UInt64(distance.magnitude))
            } else {
                overflows ? UInt64.max : sum
            }
        return Position(epoch: position.epoch, offset: offset)
    }

    package func claim(consumer: String, as member: ConsumerMember) async throws -> ConsumerClaim {
        let request = ClaimRequest(producer: producer, member: member, consumer: consumer)
        guard case .claimed(let claimed) = try await ask(.claim(request)) else {
            throw BusError(.refused, "the broker sent an unexpected reply to a claim")
        }
        return ConsumerClaim(
            consumer: consumer, member: member, ownerGeneration: claimed.ownerGeneration, epoch: claimed.epoch,
            offsets: claimed.offsets, cutOffs: claimed.cutOffs)
    }

    package func leave(consumer: String, as member: ConsumerMember) {
        tell(.claim(ClaimRequest(producer: producer, member: member, consumer: consumer, purpose: .leave)))
    }

    package func consumers() async throws -> [DurableConsumer] {
        guard case .consumers(let list) = try await ask(.consumers) else {
            throw BusError(.refused, "the broker sent an unexpected reply to a request for the durable consumers")
        }
        return list.consumers.map { consumer in
            DurableConsumer(
                name: consumer.name, position: Position(epoch: list.epoch, offset: consumer.position),
                end: Position(epoch: list.epoch, offset: list.head), memberCount: Int(consumer.memberCount))
        }
    }

    package func forget(consumer: String) async throws {
        do { try Rules.checkConsumer(consumer) } catch { throw BusError(ProtocolError(error)) }
        guard case .done = try await ask(.forget(consumer)) else {
            throw BusError(.refused, "the broker sent an unexpected reply to the removal of a durable consumer")
        }
    }

    package func deadLetters(
        of consumer: String?, after id: DeadLetter.ID, limit: Int
    ) async throws -> [DeadLetter] {
        // In a request, an empty name means all consumers.
        guard consumer != "", limit > 0 else { return [] }
        let request = DeadLettersRequest(after: id, consumer: consumer ?? "")
        guard case .deadLetters(let page) = try await ask(.deadLetters(request)) else {
            throw BusError(.refused, "the broker sent an unexpected reply to a request for dead letters")
        }
        return try page.deadLetters.prefix(limit).map(DeadLetter.init)
    }

    package func deadLetterSummaries(
        of consumer: String?, after id: DeadLetter.ID, limit: Int
    ) async throws -> [DeadLetter.Summary] {
        guard consumer != "", limit > 0 else { return [] }
        let request = DeadLettersRequest(after: id, consumer: consumer ?? "")
        switch try await ask(.listDeadLetters(request), unlessRefusedWith: .operation) {
        case .deadLetterSummaries(let page): return try page.deadLetters.prefix(limit).map(DeadLetter.Summary.init)
        case nil: return try await deadLetters(of: consumer, after: id, limit: limit).map(\.summary)
        default: throw BusError(.refused, "the broker sent an unexpected reply to a request for a list of dead letters")
        }
    }

    package func deadLetterCount(of consumer: String?) async throws -> Int {
        guard consumer != "" else { return 0 }
        switch try await ask(.countDeadLetters(consumer ?? ""), unlessRefusedWith: .operation) {
        case .counted(_, let count): return Int(clamping: count)
        case nil:
            // An older broker cannot count: the pages are read one after another.
            var count = 0
            try await DeadLetter.forEachPage {
                try await deadLetters(of: consumer, after: $0, limit: .max)
            } _: {
                count += $0.count
            }
            return count
        default: throw BusError(.refused, "the broker sent an unexpected reply to a request for a number")
        }
    }

    package func ask(_ query: Envelope, timeout: Duration) async throws -> Envelope {
        let timeout = min(max(timeout, .zero), .milliseconds(UInt32.max))
        let milliseconds = UInt32(timeout / .milliseconds(1))
        let request = AskRequest(timeout: milliseconds, query: try PublishedMessage(checking: query))
        guard case .answer(let header, let data, let origin) = try await ask(.ask(request), timeout: timeout) else {
            throw BusError(.refused, "the broker sent an unexpected reply to a query")
        }
        return try Envelope(header: header, data: data, origin: origin)
    }
}

extension CheckpointFrame {
    init(_ checkpoint: Checkpoint) {
        self.init(
            consumer: checkpoint.claim.consumer, ownerGeneration: checkpoint.claim.ownerGeneration,
            epoch: checkpoint.position.epoch, offset: checkpoint.position.offset, settled: checkpoint.settled,
            partition: checkpoint.partition, previous: checkpoint.previous)
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
    fileprivate init(_ deadLetter: DeadLetters.Entry) throws {
        self.init(
            id: deadLetter.id, consumer: deadLetter.consumer, rejection: Rejection(deadLetter.rejection),
            time: Date(milliseconds: deadLetter.time), message: try deadLetter.message.envelope())
    }
}

extension DeadLetter.Summary {
    fileprivate init(_ deadLetter: DeadLetters.Entry) throws {
        self.init(
            id: deadLetter.id, consumer: deadLetter.consumer, rejection: Rejection(deadLetter.rejection),
            time: Date(milliseconds: deadLetter.time), message: try deadLetter.message.envelope(),
            dataSize: Int(deadLetter.dataSize))
    }
}

extension Rejection {
    fileprivate init(_ frame: RejectionFrame) {
        self.init(code: frame.code, reason: frame.reason, attempts: Int(frame.attempts))
    }
}

extension Date {
    /// - Parameter milliseconds: The time since 1970.
    fileprivate init(milliseconds: UInt64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}

extension BusError {
    /// Converts an error of the broker to an error of the bus.
    init(_ error: ProtocolError) {
        let code: Code =
            switch error.code {
            case .fenced: .fenced
            case .epoch: .epoch
            case .journal: .journal
            case .unserved: .unserved
            case .deadline: .deadline
            case .cancelled: .cancelled
            case .deadLetter: .deadLetter
            case .unrecorded: .unrecorded
            case .denied: .denied
            case .forbidden: .forbidden
            default: .refused
            }
        self.init(code, error.message)
    }
}
