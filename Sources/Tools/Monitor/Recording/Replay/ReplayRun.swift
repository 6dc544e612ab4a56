internal import EventBus
internal import Foundation

/// A replay under way.
struct ReplayRun {
    /// What goes out together.
    private static let batchLimit = 64
    private static let batchSize = 1 << 20

    let bus: any EventBus
    var clock: ReplayClock
    var listener: ResultListener
    let tell: @Sendable (Replayer.Occurrence) async throws -> Void
    private var batch: [Envelope] = []
    private var sent = 0
    /// The last document of each subject and key that a coordinator said.
    private var expected: [DocumentName: String] = [:]

    private struct DocumentName: Hashable {
        let type: MessageType
        let subject: String
        let key: String?
    }

    init(
        bus: any EventBus, clock: ReplayClock, listener: ResultListener,
        tell: @escaping @Sendable (Replayer.Occurrence) async throws -> Void
    ) {
        self.bus = bus
        self.clock = clock
        self.listener = listener
        self.tell = tell
    }

    mutating func take(_ step: ReplayPlan.Step, _ recorded: RecordedMessage) async throws {
        switch step {
        case .send(let message): try await send(message, recorded)
        case .await(let id):
            try await flush()
            try await wait(for: id)
        case .expect(let id):
            let message = recorded.message
            let name = DocumentName(type: message.type, subject: message.subject, key: message.attributes.key)
            expected[name] = id
        case .skip: break
        }
    }

    /// Sends what is left, and waits for the last states.
    mutating func finish() async throws {
        try await flush()
        for id in expected.values { try await wait(for: id) }
    }

    private mutating func send(_ message: Envelope, _ recorded: RecordedMessage) async throws {
        if let instant = clock.instant(for: recorded.message.attributes.time), instant > .now {
            try await flush()
            try await Task.sleep(until: instant)
        }
        if clock.pace == .stepwise { try await flush() }
        try await tell(.next(recorded, message))
        // What was never journalled is not now.
        if recorded.message.position == nil, message.type.kind != .document {
            try await flush()
            return try await publish(Batch([message], isTransient: true))
        }
        // What goes out together stands together in the journal: nobody's answer can come between.
        if batch.count >= Self.batchLimit || batch.map(\.data.count).reduce(message.data.count, +) > Self.batchSize {
            try await flush()
        }
        batch.append(message)
    }

    private mutating func flush() async throws {
        guard !batch.isEmpty else { return }
        try await publish(Batch(batch))
        batch = []
    }

    private mutating func publish(_ batch: Batch) async throws {
        try await bus.publish(batch)
        sent += batch.messages.count
        try await tell(.sent(sent))
    }

    private mutating func wait(for id: String) async throws {
        guard try await !listener.wait(for: id) else { return }
        try await tell(.unanswered(id: id))
    }
}
