internal import BusFormat
internal import EventBus
internal import NATS
internal import NATSLayout
internal import Support

/// The transient messages of a subscription. It receives them into the buffer of the subscription, and holds those back
/// that would overtake a batch which their publisher knew.
struct TransientReceiver: Sendable {
    /// The maximum time for which a transient message waits for the journal.
    private static let longestHold = Duration.seconds(1)

    let journal: JournalConnection
    /// The subjects of the batches that the subscription reads.
    let patterns: [String]
    let buffer: SubscriptionBuffer
    let skipped: SkippedMessages

    /// Receives messages until the task is cancelled.
    /// - Parameter whenLive: Called when the server knows the subscription.
    func receive(whenLive: @escaping @Sendable () -> Void) async throws {
        // The thread that reads the socket puts the messages into the buffer. A task in between could come too late: a
        // batch that was published after a transient message would overtake it.
        let (gaps, gapsWriter) = AsyncStream.makeStream(
            of: SubscriptionBuffer.Gap.self, bufferingPolicy: .bufferingNewest(1))
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask {
                try await self.subscribe(whenLive) { message in
                    if let gap = self.enqueue(message) { gapsWriter.yield(gap) }
                }
            }
            // The newest gap includes the others.
            for await gap in gaps {
                let mustWait = try? await journal.hasBatches(
                    matching: patterns, from: gap.sequences.lowerBound, through: gap.sequences.upperBound)
                group.addTask {
                    // If this subscription has a message in the gap, it usually comes soon, and releases the others.
                    if mustWait != false { try await Task.sleep(for: Self.longestHold) }
                    self.buffer.release(gap)
                }
            }
        }
    }

    private func subscribe(
        _ whenLive: @escaping @Sendable () -> Void, _ receive: @escaping @Sendable (NATSMessage) -> Void
    ) async throws {
        var wait = journal.connection.waits.operation()
        defer { wait.end() }
        while true {
            do {
                try await journal.connection.withSubscription(
                    to: "\(journal.names.namespace).t.>", handler: receive
                ) { subscription in
                    wait.end()
                    whenLive()
                    _ = try await subscription.next()
                }
            } catch let error where error.passes {
                wait.recordFailure("\(error)")
                try await journal.pause(1)
            } catch let error as NATSError {
                buffer.finish(throwing: journal.busError(error))
                return whenLive()
            }
        }
    }

    /// Adds a transient message to the buffer.
    /// - Returns: What must be read before the messages that are held; nil if none was added to them.
    private func enqueue(_ message: NATSMessage) -> SubscriptionBuffer.Gap? {
        guard let position = TransientPosition(message) else {
            skipped.record("a transient message on '\(message.subject)' has no valid headers")
            return nil
        }
        switch buffer.put(message, after: position) {
        case .added: return nil
        case .held(let gap): return gap
        case .dropped:
            skipped.record(
                "a transient message on '\(message.subject)' was dropped: too many already wait for the subscriber")
            return nil
        }
    }
}

/// The place in the journal after which a transient batch was published: the last batch that its publisher knew.
struct TransientPosition: Hashable, Sendable {
    private static let header = "Segue-After"

    let epoch: UInt64
    let sequence: UInt64

    init(epoch: UInt64, sequence: UInt64) {
        self.epoch = epoch
        self.sequence = sequence
    }

    fileprivate init?(_ message: NATSMessage) {
        let numbers = (message.header(Self.header) ?? "").split(scalar: "/", omittingEmptySubsequences: false)
        guard numbers.count == 2, let epoch = UInt64(numbers[0]), let sequence = UInt64(numbers[1]),
            sequence <= StreamPosition.maximumSequence
        else { return nil }
        self.init(epoch: epoch, sequence: sequence)
    }

    /// The headers of a transient batch.
    func headers(count: Int) -> NATSHeaders {
        [BatchHeaders.Name.batch.rawValue: String(count), Self.header: "\(epoch)/\(sequence)"]
    }
}

extension NATSMessage {
    /// The messages of a transient batch.
    /// - Throws: ``ProtocolError`` if the batch is damaged.
    func transientEnvelopes() throws -> BatchEnvelopes {
        let headers = try BatchHeaders(
            fields: [BatchHeaders.Name.batch.rawValue: header(BatchHeaders.Name.batch.rawValue) ?? ""])
        return try withBody { try BatchEnvelopes(transient: headers, $0) }
    }
}
