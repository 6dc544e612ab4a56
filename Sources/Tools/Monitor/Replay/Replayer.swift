package import EventBus
internal import Foundation

/// Tells a recorded story to the processes of a bus.
///
/// Inputs are sent in the order of the recording. What a coordinator said in between, which others may have heard, is
/// waited for: so the order of the story is the recorded one at any pace.
package struct Replayer: Sendable {
    private let bus: any EventBus
    private let recording: Recording
    private let plan: ReplayPlan
    private let survey: ReplaySurvey
    private let pace: ReplayPace
    private let patience: Duration

    /// - Parameters:
    ///   - survey: of the same recording and plan.
    ///   - patience: how long somebody may take to say what is waited for.
    package init(
        bus: any EventBus, _ recording: Recording, _ plan: ReplayPlan, _ survey: ReplaySurvey, pace: ReplayPace,
        patience: Duration = .seconds(5)
    ) {
        self.bus = bus
        self.recording = recording
        self.plan = plan
        self.survey = survey
        self.pace = pace
        self.patience = patience
    }

    package enum Occurrence: Sendable {
        /// This message comes next; it is sent when the handler returns.
        case next(RecordedMessage, Envelope)
        /// So many are sent by now.
        case sent(Int)
        /// Nobody says this: nothing is waited for any more.
        case unanswered(id: String)
    }

    /// Sends it all, and waits for the last states.
    /// - Throws: ``BusError``, ``RecordingError``, and what `tell` throws.
    package func run(_ tell: @escaping @Sendable (Occurrence) async throws -> Void) async throws {
        try await bus.withSubscription(to: [.all], from: .now) { messages in
            var run = ReplayRun(
                bus: bus, clock: ReplayClock(pace), listener: ResultListener(messages, patience: patience),
                tell: tell)
            try await plan.forEachStep(of: recording, survey) { recorded, step in
                try await run.take(step, recorded)
            }
            try await run.finish()
        }
    }
}

extension ReplayPlan {
    /// Goes through the stretch of a recording that is told again.
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

/// A replay under way.
struct ReplayRun {
    /// What goes out together.
    private static let batchLimit = 64
    private static let batchSize = 1 << 20

    private let bus: any EventBus
    private var clock: ReplayClock
    private var listener: ResultListener
    private let tell: @Sendable (Replayer.Occurrence) async throws -> Void
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

/// Hears what the processes of a bus say of what is replayed to them.
struct ResultListener {
    /// What nobody asks for must not add up.
    private static let memoryLimit = 10_000

    private let messages: MessageSequence
    private let patience: Duration
    private var heard: Set<String> = []
    /// Whether something did not come: nothing is waited for any more, for whoever says it is not there.
    private(set) var hasGivenUp = false

    init(_ messages: MessageSequence, patience: Duration) {
        self.messages = messages
        self.patience = patience
    }

    /// - Returns: whether the message came; false only once.
    mutating func wait(for id: String) async throws -> Bool {
        if hasGivenUp || heard.remove(id) != nil { return true }
        guard let others = try await others(before: id) else {
            hasGivenUp = true
            return false
        }
        if heard.count > Self.memoryLimit { heard = [] }
        heard.formUnion(others)
        return true
    }

    /// - Returns: what came before that message; nil when that did not come in time.
    private func others(before id: String) async throws -> Set<String>? {
        let (messages, patience) = (messages, patience)
        return try await withThrowingTaskGroup(of: Set<String>?.self) { group in
            group.addTask {
                var others: Set<String> = []
                for try await message in messages {
                    if message.id == id { return others }
                    if message.hasDerivedID { others.insert(message.id) }
                }
                return nil
            }
            group.addTask {
                try await Task.sleep(for: patience)
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }
}

/// How fast a story is told again.
package enum ReplayPace: Hashable, Sendable {
    /// So many times as fast as it was.
    case speed(Double)
    /// As fast as those who answer.
    case fastest
    /// A message when it is asked for.
    case stepwise
}

/// The time that a story takes when it is told again.
struct ReplayClock {
    let pace: ReplayPace
    private var anchor: (recorded: Date, now: ContinuousClock.Instant)?

    init(_ pace: ReplayPace) {
        self.pace = pace
    }

    /// When a message of this time is due; nil for at once.
    mutating func instant(for time: Date) -> ContinuousClock.Instant? {
        guard case .speed(let speed) = pace else { return nil }
        guard let anchor else {
            anchor = (time, .now)
            return nil
        }
        let seconds = time.timeIntervalSince(anchor.recorded) / speed
        // Far beyond a hundred years the conversion would trap.
        return anchor.now + .seconds(min(max(seconds, -3e9), 3e9))
    }
}
