internal import DequeModule
internal import EventBus
internal import NATS
internal import NATSJournal
internal import NATSLayout
internal import Synchronization

/// The batches between the task that reads the journal and the reader of a subscription. When it is full, the task that
/// reads the journal waits, so that further batches stay in the journal.
final class SubscriptionBuffer: Sendable {
    enum Item: Sendable {
        /// A retained document, in a new epoch.
        case document(Envelope)
        case batch(JournalBatch)
        case transient(NATSMessage)
    }

    private struct Held {
        let message: NATSMessage
        /// The sequence of the journal after which the message is delivered.
        let sequence: UInt64
    }

    private struct State {
        var items: Deque<Item> = []
        /// The size of the items in bytes.
        var size = 0
        /// The transient messages that came before the batches after which they were published.
        var held: Deque<Held> = []
        /// The highest sequence for which a message was held.
        var heldEnd: UInt64 = 0
        /// The size in bytes of the transient messages that are held, or wait for the reader.
        var transientSize = 0
        /// The epoch of the journal to which `received` and the sequences of held messages belong.
        var epoch: UInt64
        /// The sequence up to which the journal was read.
        var received: UInt64
        /// The end of the subscription; nil while it lasts.
        var end: Result<Void, any Error>?
        var reader: Waiter<[Item]?>?
        var writer: Waiter<Void>?
        var lastWaiter: UInt64 = 0

        var isFull: Bool { items.count >= SubscriptionBuffer.capacity || size >= SubscriptionBuffer.byteCapacity }
        var isHalfFree: Bool {
            items.count <= SubscriptionBuffer.capacity / 2 && size <= SubscriptionBuffer.byteCapacity / 2
        }

        mutating func append(_ item: Item) {
            items.append(item)
            size += item.size
        }

        mutating func add(_ batch: JournalBatch) {
            let sequence = batch.sequence
            // A transient message that was published before the batch comes before it.
            release(before: sequence)
            append(.batch(batch))
            received = max(received, sequence)
            release(before: sequence + 1)
        }

        /// Delivers the transient messages that are held for earlier sequences than this one.
        mutating func release(before sequence: UInt64) {
            while let first = held.first, first.sequence < sequence {
                append(.transient(first.message))
                held.removeFirst()
            }
        }

        /// The items for the reader; nil if the reader must wait.
        mutating func dequeue() -> Dequeued? {
            guard !items.isEmpty else { return end.map { Dequeued(items: $0.map { nil }) } }
            let dequeued = Array(items.prefix(SubscriptionBuffer.dequeueCount))
            items.removeFirst(dequeued.count)
            for item in dequeued {
                size -= item.size
                if case .transient = item { transientSize -= item.size }
            }
            return Dequeued(items: .success(dequeued))
        }

        /// Dequeues items for the reader that waits.
        /// - Returns: The reader, to be resumed without the lock; nil if there is nothing for it.
        mutating func dequeueForReader() -> ReadyReader? {
            guard reader != nil, let dequeued = dequeue(), let reader = reader.take() else { return nil }
            return ReadyReader(continuation: reader.continuation, dequeued: dequeued)
        }
    }

    /// The result of a reader's wait: items, nil at the end, or the error of the subscription.
    private struct Dequeued {
        let items: Result<[Item]?, any Error>
    }

    /// A reader whose wait is over.
    private struct ReadyReader {
        let continuation: CheckedContinuation<[Item]?, any Error>
        let dequeued: Dequeued

        func resume() { continuation.resume(with: dequeued.items) }
    }

    private struct Waiter<Value: Sendable> {
        let number: UInt64
        let continuation: CheckedContinuation<Value, any Error>
    }

    /// The number of batches and transient messages at which the buffer is full.
    private static let capacity = 256
    private static let byteCapacity = 8 * 1024 * 1024
    /// The maximum number of transient messages that are held, or wait for the reader, and their size in bytes.
    private static let transientCapacity = 4096
    private static let transientByteCapacity = 8 * 1024 * 1024
    /// The maximum number of items that the reader dequeues at once.
    private static let dequeueCount = 64

    private let state: Mutex<State>

    /// - Parameter offset: The offset after which the subscription begins.
    init(epoch: UInt64, after offset: UInt64) {
        state = Mutex(State(epoch: epoch, received: StreamPosition.start(after: offset) - 1))
    }

    /// Changes the state, and resumes the reader if it waits and there is something for it.
    private func update<Result: Sendable>(_ change: (inout State) -> Result) -> Result {
        let (result, reader) = state.withLock { state in
            let result = change(&state)
            return (result, state.dequeueForReader())
        }
        reader?.resume()
        return result
    }

    // MARK: The journal

    /// Adds a batch. If the buffer is full then, waits until half of it is free. Only one task may add batches and
    /// documents: there is one place for a writer that waits.
    /// - Returns: True if it has waited.
    func put(_ batch: JournalBatch) async throws -> Bool {
        update { $0.add(batch) }
        return try await waitForRoom()
    }

    /// Adds a retained document. If the buffer is full then, waits until half of it is free.
    func put(_ document: Envelope) async throws {
        update { $0.append(.document(document)) }
        _ = try await waitForRoom()
    }

    /// Follows the journal to another epoch. Transient messages that are held were published before it.
    /// - Parameter offset: The offset after which the subscription begins in it.
    func restart(in epoch: UInt64, after offset: UInt64) {
        update { state in
            state.release(before: .max)
            (state.epoch, state.received, state.heldEnd) = (epoch, StreamPosition.start(after: offset) - 1, 0)
        }
    }

    /// Adds a batch unless the buffer is full or the subscription has ended.
    /// - Returns: True if it was added.
    func putIfRoom(_ batch: JournalBatch) -> Bool {
        update { state in
            guard !state.isFull, state.end == nil else { return false }
            state.add(batch)
            return true
        }
    }

    private func waitForRoom() async throws -> Bool {
        let number = state.withLock { state -> UInt64? in
            guard state.isFull, state.end == nil else { return nil }
            state.lastWaiter += 1
            return state.lastWaiter
        }
        guard let number else { return false }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let waits = state.withLock { state in
                    guard state.isFull, state.end == nil else { return false }
                    state.writer = Waiter(number: number, continuation: continuation)
                    return true
                }
                if !waits { continuation.resume() } else if Task.isCancelled { abandonWriter(number) }
            }
        } onCancel: {
            abandonWriter(number)
        }
        return true
    }

    private func abandonWriter(_ number: UInt64) {
        let writer = state.withLock { state -> Waiter<Void>? in
            guard state.writer?.number == number else { return nil }
            defer { state.writer = nil }
            return state.writer
        }
        writer?.continuation.resume(throwing: CancellationError())
    }

    /// Ends the subscription. The reader still gets the items that wait.
    func finish(throwing error: (any Error)? = nil) {
        let writer = update { state in
            state.end = state.end ?? error.map { .failure($0) } ?? .success(())
            return state.writer.take()
        }
        writer?.continuation.resume()
    }

    /// True if the subscription has ended. Nothing more is to be added.
    var hasEnded: Bool { state.withLock { $0.end != nil } }

    // MARK: Transient messages

    /// The result of adding a transient message.
    enum Addition: Sendable {
        case added
        /// Messages are held. They can be delivered when the subscription has received its messages of this gap.
        case held(Gap)
        /// The message was dropped because too many others wait.
        case dropped
    }

    /// A part of the journal that was not received yet.
    struct Gap: Hashable, Sendable {
        let epoch: UInt64
        let sequences: ClosedRange<UInt64>
    }

    /// Adds a transient message, which is held until the journal was read up to `position`. One of another epoch is not
    /// held.
    func put(_ message: NATSMessage, after position: TransientPosition) -> Addition {
        update { state in
            guard state.held.count < Self.transientCapacity, state.items.count < Self.transientCapacity,
                state.transientSize < Self.transientByteCapacity
            else {
                return .dropped
            }
            state.transientSize += message.bodySize
            let sequence = position.epoch == state.epoch ? position.sequence : 0
            if sequence <= state.received, state.held.isEmpty {
                state.append(.transient(message))
                return .added
            }
            state.held.append(Held(message: message, sequence: sequence))
            state.heldEnd = max(state.heldEnd, sequence)
            // The gap covers all held messages, because the receiver of gaps keeps only the newest. It is not empty:
            // what `received` has reached is not held.
            return .held(Gap(epoch: state.epoch, sequences: state.received + 1...state.heldEnd))
        }
    }

    /// Delivers the transient messages that are held for a gap.
    func release(_ gap: Gap) {
        update { state in
            guard state.epoch == gap.epoch else { return }
            state.release(before: gap.sequences.upperBound + 1)
        }
    }

    // MARK: The reader

    /// The sequence up to which the journal was read, if there is nothing for the reader; otherwise nil.
    var drainedSequence: UInt64? {
        state.withLock { $0.items.isEmpty && $0.end == nil ? $0.received : nil }
    }

    /// The epoch of the journal that is read.
    var epoch: UInt64 { state.withLock(\.epoch) }

    /// The sequence up to which the journal was read, if the reader waits and there is nothing for it; otherwise nil.
    var idleSequence: UInt64? {
        state.withLock { $0.items.isEmpty && $0.reader != nil && $0.end == nil ? $0.received : nil }
    }

    /// Records that the journal has nothing for the reader between two sequences.
    /// - Returns: False if something has come meanwhile, or the reader no longer waits. Also if messages are held,
    ///   which
    /// only the journal or their gap releases; readers under a claim hold none.
    func advance(from received: UInt64, to sequence: UInt64) -> Bool {
        state.withLock { state in
            guard state.items.isEmpty, state.held.isEmpty, state.reader != nil, state.end == nil,
                state.received == received
            else {
                return false
            }
            state.received = max(received, sequence)
            return true
        }
    }

    /// Dequeues the next items; nil at the end. Only one task may call this at a time.
    nonisolated(nonsending) func dequeue() async throws -> [Item]? {
        let (number, dequeued) = state.withLock { state in
            state.lastWaiter += 1
            return (state.lastWaiter, state.dequeue())
        }
        if let dequeued {
            wakeWriter()
            return try dequeued.items.get()
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<[Item]?, any Error>) in
                let dequeued = state.withLock { state -> Dequeued? in
                    if let dequeued = state.dequeue() { return dequeued }
                    state.reader = Waiter(number: number, continuation: continuation)
                    return nil
                }
                if let dequeued {
                    wakeWriter()
                    continuation.resume(with: dequeued.items)
                } else if Task.isCancelled {
                    // The cancellation handler may have run before the waiter was there.
                    abandonReader(number)
                }
            }
        } onCancel: {
            abandonReader(number)
        }
    }

    private func wakeWriter() {
        let writer = state.withLock { state -> Waiter<Void>? in
            guard state.isHalfFree else { return nil }
            defer { state.writer = nil }
            return state.writer
        }
        writer?.continuation.resume()
    }

    private func abandonReader(_ number: UInt64) {
        let reader = state.withLock { state -> Waiter<[Item]?>? in
            guard state.reader?.number == number else { return nil }
            defer { state.reader = nil }
            return state.reader
        }
        reader?.continuation.resume(throwing: CancellationError())
    }
}

extension SubscriptionBuffer.Item {
    fileprivate var size: Int {
        switch self {
        case .document(let envelope): envelope.data.count
        case .batch(let batch): batch.message.message.bodySize
        case .transient(let message): message.bodySize
        }
    }
}

/// A message of the stream that a reader has received, with the part of the journal that the reader wants.
struct JournalBatch: Sendable {
    let message: DeliveredMessage
    let epoch: UInt64
    /// The offset after which messages are wanted.
    let start: UInt64
    /// The offset up to which messages are wanted.
    let end: UInt64

    var sequence: UInt64 { UInt64(clamping: message.streamSequence) }

    /// The wanted messages of the batch, as envelopes.
    /// - Throws: ``ProtocolError`` if the batch is damaged.
    func envelopes() throws -> BatchEnvelopes {
        let headers = try message.batchHeaders()
        return try message.message.withBody { body in
            try BatchEnvelopes(headers, body, at: sequence, of: epoch) { $0 > start && $0 <= end }
        }
    }

    /// The wanted messages of the batch.
    /// - Throws: ``ProtocolError`` if the batch is damaged.
    func messages() throws -> [BatchMessage.Stored] {
        let messages = try message.batch().content(at: sequence, of: epoch).messages
        // Only the first and the last batch of a subscription can have messages that are not wanted.
        guard let first = messages.first, let last = messages.last,
            first.position.offset <= start || last.position.offset > end
        else { return messages }
        return messages.filter { $0.position.offset > start && $0.position.offset <= end }
    }
}
