internal import Synchronization

/// A reader of a stream that notices when the server it reads from lacks messages. One task uses it.
///
/// A consumer reads the replica of one server. If that has lost messages, because its disk was damaged, the server
/// skips them without an error. So everything that the stream had when the reader began is also read from another
/// server, without bodies. If this one has a message that the first one has skipped, the reader fails before it
/// delivers a later one, and the next reader avoids the server that lacks it.
package final class ComparedConsumer {
    private enum Source {
        static let consumer = 0
        static let witness = 1
    }

    /// The time after which a message that a server lacks, and another one still has, counts as missing. Before that, the
    /// message may be new, or it is being removed.
    private static let patience = Duration.seconds(1)

    private let consumer: PullConsumer
    private let witness: PullConsumer?
    private let jetStream: JetStream
    /// The stream's last sequence when the reader began. Later messages are not compared.
    private let end: Int
    private var comparison = SequenceComparison(count: 2)
    /// True if there is something to compare.
    private var isComparing: Bool
    /// True if the consumer has said that it has nothing more.
    private var isExhausted: Bool
    package var name: String { consumer.name }
    /// The consumer sequences of the last deliveries of both.
    private var delivered = [0, 0]
    /// The number of messages that the consumer had to deliver when it was created; at least 1 if the other server has
    /// any.
    package let initialPending: Int

    fileprivate init(
        _ consumer: PullConsumer, comparedWith witness: PullConsumer? = nil, upTo end: Int = 0, on jetStream: JetStream
    ) {
        self.consumer = consumer
        self.witness = witness
        self.jetStream = jetStream
        self.end = end
        isComparing = witness.map { $0.initialPending > 0 } ?? false
        isExhausted = consumer.initialPending == 0
        initialPending = isComparing ? max(consumer.initialPending, 1) : consumer.initialPending
    }

    /// Waits for the next message or sign of life.
    /// - Throws: As ``PullConsumer/next(handlingAtOnce:)``. ``NATSError`` `incomplete` if the server lacks messages:
    ///   make another consumer that begins after the last message.
    /// - Parameter handleAtOnce: As there. It is not called while messages are compared.
    package func next(
        handlingAtOnce handleAtOnce: ((DeliveredMessage) -> Bool)? = nil
    ) async throws -> PullConsumer.Delivery {
        guard isComparing, let witness else { return try await consumer.next(handlingAtOnce: handleAtOnce) }
        if isExhausted, let rest = try await rest(of: witness) { throw try await passedOver(rest, witness) }
        let delivery = try await consumer.next()
        guard case .message(var delivered) = delivery else {
            isExhausted = true
            return delivery
        }
        try expect(delivered, from: Source.consumer)
        isExhausted = delivered.pending == 0
        try await compare(delivered.streamSequence, with: witness)
        // The reader must continue if the consumer has ended too early.
        if isExhausted, try await rest(of: witness) != nil { delivered.pending = 1 }
        return .message(delivered)
    }

    /// Compares all messages up to one that the consumer has delivered.
    private func compare(_ sequence: Int, with witness: PullConsumer) async throws {
        guard sequence <= end else {
            // The witness may still have messages before it.
            while let rest = try await rest(of: witness) { try await check(rest, witness) }
            return
        }
        comparison.add(sequence, from: Source.consumer)
        while isComparing {
            switch comparison.step() {
            case .needs(Source.witness): try await ask(witness)
            case .needs: return
            case .difference(let sequence, let lacking):
                guard lacking.contains(Source.consumer) else { continue }
                if try await isMissing(sequence, witness) { throw missing(sequence, witness) }
            case .conflict: continue
            case .end: isComparing = false
            }
            if comparison.hasEnded(Source.witness) { isComparing = false }
        }
    }

    /// The first message of the witness that the consumer has not delivered. Nil if there is none.
    private func rest(of witness: PullConsumer) async throws -> Int? {
        while isComparing {
            if let next = comparison.next(of: Source.witness) { return next }
            if comparison.hasEnded(Source.witness) { isComparing = false } else { try await ask(witness) }
        }
        return nil
    }

    private func ask(_ witness: PullConsumer) async throws {
        guard case .message(let delivered) = try await witness.next() else { return comparison.end(Source.witness) }
        try expect(delivered, from: Source.witness)
        guard delivered.streamSequence <= end else { return comparison.end(Source.witness) }
        comparison.add(delivered.streamSequence, from: Source.witness)
        if delivered.pending == 0 { comparison.end(Source.witness) }
    }

    /// - Throws: ``NATSError`` `disconnected` if messages were lost on their way. No server lacks them.
    private func expect(_ message: DeliveredMessage, from source: Int) throws {
        guard message.consumerSequence == delivered[source] + 1 else {
            throw NATSError(.disconnected, "messages of \(consumer.stream) were lost on their way")
        }
        delivered[source] += 1
    }

    // MARK: Missing messages

    private func check(_ sequence: Int, _ witness: PullConsumer) async throws {
        if try await isMissing(sequence, witness) { throw missing(sequence, witness) }
        comparison.end(Source.consumer)
        _ = comparison.step()
    }

    /// The error for a message that the consumer has not delivered, although it has ended.
    private func passedOver(_ sequence: Int, _ witness: PullConsumer) async throws -> NATSError {
        if try await isMissing(sequence, witness) { return missing(sequence, witness) }
        return NATSError(.timeout, "message \(sequence) of \(consumer.stream) was removed while it was read")
    }

    private func missing(_ sequence: Int, _ witness: PullConsumer) -> NATSError {
        let (server, other) = (consumer.server ?? "?", witness.server ?? "?")
        jetStream.connection.incompleteReplicas.record(server, of: consumer.stream, lacks: sequence)
        return NATSError(
            .incomplete,
            "server \(server) lacks message \(sequence) of \(consumer.stream), which server \(other) has: the reader "
                + "continues with another server")
    }

    /// True if the witness's server still has a message after some time.
    private func isMissing(_ sequence: Int, _ witness: PullConsumer) async throws -> Bool {
        let start = ContinuousClock.now
        while ContinuousClock.now - start < Self.patience {
            guard try await jetStream.has(sequence, of: consumer.stream, on: witness.server) else { return false }
            try await Task.sleep(for: .milliseconds(100))
        }
        return true
    }
}

extension JetStream {
    /// Creates a consumer, and deletes it after `body` has returned or thrown. On several servers, the past of the stream
    /// is compared with another server.
    /// - Throws: ``JetStreamError`` `streamNotFound` and others; the error of `body`.
    package func withConsumer<Result>(
        of stream: String, _ settings: ConsumerSettings, pulling: PullSettings = PullSettings(),
        _ body: (ComparedConsumer) async throws -> Result
    ) async throws -> Result {
        guard connection.isClustered else {
            return try await withAnyConsumer(of: stream, settings, pulling: pulling) {
                try await body(ComparedConsumer($0, on: self))
            }
        }
        let info = try await self.stream(stream)
        guard !info.followers.isEmpty, info.lastSequence > 0, settings.start.isNotAfter(info.lastSequence) else {
            return try await withAnyConsumer(of: stream, settings, pulling: pulling) {
                try await body(ComparedConsumer($0, on: self))
            }
        }
        let servers = Set(info.followers.map(\.name) + [info.leader].compactMap(\.self))
        let avoided = connection.incompleteReplicas.servers(among: servers, of: stream, from: settings.start)
        let result: Result?? = try await withConsumer(
            of: stream, settings, pulling: pulling, on: { !avoided.contains($0 ?? "") }
        ) { consumer in
            var others = settings
            others.headersOnly = true
            // A server that does not answer is asked only for a short time: there is another one.
            let jetStream = JetStream(connection, timeout: min(timeout, .seconds(2)))
            return try await jetStream.withConsumer(of: stream, others, on: { $0 != consumer.server }) { witness in
                try await body(
                    ComparedConsumer(consumer, comparedWith: witness, upTo: info.lastSequence, on: self))
            }
        }
        guard let result = result ?? nil else {
            throw NATSError(.timeout, "no second server has the stream \(stream) now, and its messages are compared")
        }
        return result
    }

    /// True if a server has a message.
    func has(_ sequence: Int, of stream: String, on server: String?) async throws -> Bool {
        let settings = ConsumerSettings(start: .sequence(sequence), headersOnly: true)
        let found = try await withConsumer(
            of: stream, settings, pulling: PullSettings(window: 1), on: { $0 == server }
        ) { consumer in
            guard consumer.initialPending > 0, case .message(let message) = try await consumer.next() else {
                return false
            }
            return message.streamSequence == sequence
        }
        guard let found else { throw NATSError(.timeout, "server \(server ?? "?") does not serve \(stream) now") }
        return found
    }
}

/// The servers that were found to lack messages.
final class IncompleteReplicas: Sendable {
    private struct Replica: Hashable {
        let stream: String
        let server: String
    }

    /// After this time a server is used again: it may have been repaired.
    private static let memory = Duration.seconds(600)

    private let lacking = Mutex<[Replica: (sequence: Int, end: ContinuousClock.Instant)]>([:])

    func record(_ server: String, of stream: String, lacks sequence: Int) {
        lacking.withLock { lacking in
            let replica = Replica(stream: stream, server: server)
            lacking[replica] = (max(sequence, lacking[replica]?.sequence ?? 0), .now + Self.memory)
        }
    }

    /// The servers, among `servers`, that lack messages which a consumer with this start would deliver. Empty if all of
    /// them do: then the consumer gets as far as its server allows, and the next one further.
    func servers(among servers: Set<String>, of stream: String, from start: ConsumerSettings.Start) -> Set<String> {
        let found = lacking.withLock { lacking in
            lacking = lacking.filter { $0.value.end > .now }
            return Set(
                lacking.filter { $0.key.stream == stream && start.isNotAfter($0.value.sequence) }.map(\.key.server))
        }
        return found.isSuperset(of: servers) ? [] : found
    }
}
