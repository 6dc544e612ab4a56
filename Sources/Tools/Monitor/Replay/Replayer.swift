package import EventBus
internal import Foundation
internal import Support

/// Sends the messages of a recording to the processes of a bus.
///
/// Messages are sent in the order of the recording. For each step ``ReplayPlan/Step/await(id:)``, the replay waits for
/// that result, at most for `patience`, before it sends the next message.
package struct Replayer: Sendable {
    private let bus: EventBus
    private let recording: Recording
    private let plan: ReplayPlan
    private let survey: ReplaySurvey
    private let pace: ReplayPace
    private let patience: Duration

    /// - Parameters:
    ///   - survey: The survey of `recording` for `plan`.
    ///   - patience: The maximum time to wait for a result. If a result takes longer, the replay waits for no other
    ///     result.
    package init(
        bus: EventBus, recording: Recording, plan: ReplayPlan, survey: ReplaySurvey, pace: ReplayPace,
        patience: Duration = .seconds(5)
    ) {
        self.bus = bus
        self.recording = recording
        self.plan = plan
        self.survey = survey
        self.pace = pace
        self.patience = patience
    }

    /// A report of a running replay.
    package enum Occurrence: Sendable {
        /// The next message to send. It is sent after the handler has returned.
        case next(RecordedMessage, Envelope)
        /// The number of messages sent so far.
        case sent(Int)
        /// No process has published the result with this id in time. The replay waits for no other result.
        case unanswered(id: String)
    }

    /// Sends all messages of the plan, then waits for the last expected document of each type, subject and key.
    /// - Throws: ``BusError``, ``RecordingError``, and the errors of `tell`.
    package func run(_ tell: @escaping @Sendable (Occurrence) async throws -> Void) async throws {
        try await bus.withSubscription(to: [.all], from: .now) { messages in
            var run = ReplayRun(
                bus: bus, clock: ReplayClock(pace), listener: ResultListener(messages, patience: patience),
                tell: tell)
            try await plan.forEachStep(of: recording, survey) { recorded, step in
                try await run.perform(step, recorded)
            }
            try await run.finish()
        }
    }
}

extension ReplayPlan {
    /// Calls `body` with each message of the plan's stretch and its step, in order.
    package func forEachStep(
        of recording: Recording, _ survey: ReplaySurvey, _ body: (RecordedMessage, Step) async throws -> Void
    ) async throws {
        var stretch = stretch
        try await recording.readMessages { recorded in
            let place = stretch.place(of: recorded)
            if place == .inside || place == .last { try await body(recorded, step(of: recorded, survey)) }
            return place == .last || place == .behind
        }
    }
}

/// The state of a replay while it runs.
struct ReplayRun {
    /// The maximum number of messages in a batch.
    private static let batchLimit = 64
    /// The maximum size of a batch, in bytes of data. A batch of one message can be larger.
    private static let batchSize = 1 << 20

    private let bus: EventBus
    private var clock: ReplayClock
    private var listener: ResultListener
    private let tell: @Sendable (Replayer.Occurrence) async throws -> Void
    private var batch: [Envelope] = []
    private var sent = 0
    /// The id of the last expected document of each type, subject and key.
    private var expected: [DocumentName: String] = [:]

    init(
        bus: EventBus, clock: ReplayClock, listener: ResultListener,
        tell: @escaping @Sendable (Replayer.Occurrence) async throws -> Void
    ) {
        self.bus = bus
        self.clock = clock
        self.listener = listener
        self.tell = tell
    }

    mutating func perform(_ step: ReplayPlan.Step, _ recorded: RecordedMessage) async throws {
        switch step {
        case .send(let message): try await send(message, recorded)
        case .await(let id):
            try await flush()
            try await wait(for: id)
        case .expect(let id):
            expected[DocumentName(recorded.message)] = id
        case .skip: break
        }
    }

    /// Sends the remaining messages, then waits for the expected documents.
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
        // A message that was recorded without a position is sent without being journalled, unless it is a document.
        if recorded.message.position == nil, message.type.kind != .document {
            try await flush()
            try await bus.publishTransient([message])
            return try await tellSent(1)
        }
        if batch.count >= Self.batchLimit || batch.map(\.data.count).reduce(message.data.count, +) > Self.batchSize {
            try await flush()
        }
        batch.append(message)
    }

    private mutating func flush() async throws {
        guard !batch.isEmpty else { return }
        try await bus.publish(Batch(batch))
        try await tellSent(batch.count)
        batch = []
    }

    private mutating func tellSent(_ count: Int) async throws {
        sent += count
        try await tell(.sent(sent))
    }

    private mutating func wait(for id: String) async throws {
        guard try await !listener.wait(for: id) else { return }
        try await tell(.unanswered(id: id))
    }
}

/// Receives the results that processes publish during a replay.
struct ResultListener {
    /// The number of ids beyond which all ids are forgotten.
    private static let memoryLimit = 10_000

    private let messages: MessageSequence
    private let patience: Duration
    private var received: Set<String> = []
    /// True if a result has not come in time. The replay then waits for no other result.
    private(set) var hasGivenUp = false

    init(_ messages: MessageSequence, patience: Duration) {
        self.messages = messages
        self.patience = patience
    }

    /// Waits for the message with this id.
    /// - Returns: False if the message has not come in time. All later calls return true without waiting.
    mutating func wait(for id: String) async throws -> Bool {
        if hasGivenUp || received.remove(id) != nil { return true }
        guard let others = try await others(before: id) else {
            hasGivenUp = true
            return false
        }
        if received.count > Self.memoryLimit { received = [] }
        received.formUnion(others)
        return true
    }

    /// Waits for the message with this id.
    /// - Returns: The derived ids of the messages before it. Nil if the message has not come in time.
    private func others(before id: String) async throws -> Set<String>? {
        let (messages, patience) = (messages, patience)
        return try await withTimeLimit(patience) { () -> Set<String>? in
            var others: Set<String> = []
            for try await message in messages {
                if message.id == id { return others }
                if message.hasDerivedID { others.insert(message.id) }
            }
            return nil
        } ?? nil
    }
}

/// The pace of a replay.
package enum ReplayPace: Hashable, Sendable {
    /// A multiple of the recorded pace.
    case speed(Double)
    /// Without pauses: the replay only waits for results.
    case fastest
    /// One message at a time: a message is sent before the handler is called with the next message.
    case stepwise
}

/// The clock of a replay.
struct ReplayClock {
    let pace: ReplayPace
    private var anchor: (recorded: Date, now: ContinuousClock.Instant)?

    init(_ pace: ReplayPace) {
        self.pace = pace
    }

    /// The instant at which to send a message with this recorded time. Nil if the message is sent immediately.
    mutating func instant(for time: Date) -> ContinuousClock.Instant? {
        guard case .speed(let speed) = pace else { return nil }
        guard let anchor else {
            anchor = (time, .now)
            return nil
        }
        let seconds = time.timeIntervalSince(anchor.recorded) / speed
        // Limited to 95 years because the conversion of much larger numbers would trap.
        return anchor.now + .seconds(min(max(seconds, -3e9), 3e9))
    }
}
