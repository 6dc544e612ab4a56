internal import EventBus
internal import NATS
internal import NATSLayout

/// Reads messages of the journal in their order, each once. Makes a new consumer when messages may have been lost
/// on their way. One task uses it.
final class BatchReader {
    private let journal: JournalConnection
    /// The decision of a receiver about the next message.
    enum Step {
        case goOn
        case stop
        /// Make a new consumer first.
        case renew
    }

    /// The subjects to read. They do not overlap.
    private let patterns: [String]
    private let headersOnly: Bool
    /// The offset after which the reader ends; nil for no end.
    private let end: UInt64?
    private var tracker: ReadTracker
    /// The consumer sequence of the last delivery; 0 if this consumer has delivered nothing.
    private var lastConsumerSequence: UInt64 = 0
    /// The epoch of the journal that is read.
    private(set) var epoch: UInt64
    /// The offset after which the reader has begun in this epoch.
    private(set) var start: UInt64
    /// Recorded while no consumer delivers.
    private var wait: Waits.Operation
    /// Called before a consumer is made.
    var willBegin: ((inout ReadTracker) async throws -> Void)?
    /// Called when the journal has another epoch, with the one before. Returns the offset after which the reader begins
    /// in the new one. Without it the reader ends then.
    var willRestart: ((JournalIdentity, _ former: UInt64) async throws -> UInt64)?

    /// - Parameters:
    ///   - start: The offset after which the reader begins.
    ///   - end: The offset after which it ends; nil for no end.
    ///   - epoch: The epoch of both offsets.
    init(
        _ journal: JournalConnection, patterns: [String], after start: UInt64, until end: UInt64? = nil, epoch: UInt64,
        headersOnly: Bool = false
    ) {
        self.journal = journal
        // JetStream treats no filter as all messages of the stream.
        self.patterns = patterns.isEmpty ? [journal.names.batches] : patterns
        self.headersOnly = headersOnly
        self.end = end
        self.start = start
        self.epoch = epoch
        tracker = ReadTracker(after: start, until: end)
        wait = journal.connection.waits.operation()
    }

    /// Reads until the end, or until `deliver` returns `stop`.
    /// - Parameters:
    ///   - handleAtOnce: Handles a message in place of `deliver`, so that it needs no switch of tasks. Returns false if
    ///     `deliver` must handle it. The thread that receives calls it while the task of the reader waits. It must not
    ///     wait. Only for a reader without an end.
    ///   - deliver: Is called for each other message. It must not throw ``NATSError`` or ``JetStreamError``.
    /// - Throws: ``BusError``: `epoch` if the reader has an end and the journal was replaced, `refused`, `closed`; the
    ///   error of `deliver`.
    func read(
        handlingAtOnce handleAtOnce: ((DeliveredMessage) -> Bool)? = nil,
        _ deliver: (DeliveredMessage) async throws -> Step
    ) async throws {
        var attempt = 0
        defer { wait.end() }
        while !tracker.isAtEnd {
            guard try await followEpoch() else { return }
            let sequence = tracker.nextSequence
            do {
                try await willBegin?(&tracker)
                guard try await readConsumer(handleAtOnce, deliver) else { return }
            } catch let error where error.passes {
                journal.warn(of: error)
                wait.recordFailure("\(error)")
                attempt = tracker.nextSequence == sequence ? attempt + 1 : 0
                try await journal.pause(attempt)
                // The consumer may be lost because its stream was replaced. A server does not always say so.
                try await journal.confirm()
            } catch let error as NATSError {
                throw journal.busError(error)
            } catch let error as JetStreamError {
                throw BusError(error)
            }
        }
    }

    /// - Returns: False if there is nothing more to read; true if another consumer is needed.
    private func readConsumer(
        _ handleAtOnce: ((DeliveredMessage) -> Bool)?, _ deliver: (DeliveredMessage) async throws -> Step
    ) async throws -> Bool {
        let connection = journal.connection
        let settings = ConsumerSettings(
            filters: patterns, start: .sequence(Int(clamping: tracker.nextSequence)), headersOnly: headersOnly)
        // A reader that waits for its end asks for the journal's end at each heartbeat.
        let pulling = end == nil ? PullSettings() : PullSettings(heartbeat: .milliseconds(500))
        let count = connection.connectionCount
        return try await journal.jetStream.withConsumer(of: journal.names.journal, settings, pulling: pulling) {
            consumer in
            let generation = tracker.begin(
                connection: count, pending: UInt64(clamping: consumer.initialPending))
            lastConsumerSequence = 0
            let handleAtOnce = handleAtOnce.map { handleAtOnce in
                { (message: DeliveredMessage) in
                    // A message of a new epoch goes the other way, on which the reader starts again.
                    guard self.journal.epochNow == self.epoch else { return false }
                    var tracker = self.tracker
                    let delivery = ReadTracker.Delivery(message, generation)
                    guard case .deliver = tracker.receive(delivery, connection: connection.connectionCount),
                        handleAtOnce(message)
                    else { return false }
                    self.tracker = tracker
                    self.lastConsumerSequence = UInt64(clamping: message.consumerSequence)
                    return true
                }
            }
            var hasAsked = false
            while true {
                if tracker.shouldAskForEnd, !hasAsked {
                    hasAsked = true
                    try await askForEnd()
                    guard try await journal.identity().epoch == epoch else { return true }
                }
                if tracker.isAtEnd { return false }
                let delivery = try await consumer.next(handlingAtOnce: handleAtOnce)
                wait.end()
                // The stream has lost its end, and this consumer may wait for sequences that come only later.
                guard journal.epochNow == epoch else { return true }
                switch delivery {
                case .idle(let last):
                    hasAsked = false
                    let decision = tracker.heartbeat(
                        generation: generation, lastConsumerSequence: last.map { UInt64(clamping: $0) },
                        connection: connection.connectionCount)
                    if case .renew = decision { return true }
                case .message(let message):
                    hasAsked = false
                    switch tracker.receive(
                        ReadTracker.Delivery(message, generation), connection: connection.connectionCount)
                    {
                    case .deliver:
                        lastConsumerSequence = UInt64(clamping: message.consumerSequence)
                        switch try await deliver(message) {
                        case .goOn: break
                        case .stop: return false
                        case .renew: return true
                        }
                    case .ignore: lastConsumerSequence = UInt64(clamping: message.consumerSequence)
                    case .renew: return true
                    }
                }
            }
        }
    }

    /// Checks if everything up to the end has been received.
    private func askForEnd() async throws {
        guard let end else { return }
        let sequence = min(try await journal.lastSequence(), StreamPosition(offset: end).sequence)
        guard try await !journal.hasBatches(matching: patterns, from: tracker.nextSequence, through: sequence) else {
            return
        }
        tracker.record(
            journalEnd: StreamPosition.end(of: sequence), pending: 0, lastConsumerSequence: lastConsumerSequence)
    }

    /// Follows the journal to another epoch.
    /// - Returns: False if the reader ends with the epoch.
    private func followEpoch() async throws -> Bool {
        let identity = try await journal.identity()
        guard identity.epoch != epoch else { return true }
        guard end == nil else {
            throw BusError(.epoch, "the journal was replaced or lost messages before the reader had reached its end")
        }
        guard let willRestart else { return false }
        start = try await willRestart(identity, epoch)
        epoch = identity.epoch
        tracker = ReadTracker(after: start)
        return true
    }
}

extension ReadTracker.Delivery {
    fileprivate init(_ message: DeliveredMessage, _ generation: Int) {
        self.init(
            generation: generation, consumerSequence: UInt64(clamping: message.consumerSequence),
            streamSequence: UInt64(clamping: message.streamSequence), pending: UInt64(clamping: message.pending))
    }
}
