internal import Consuming
internal import Contracts
internal import EventBus
internal import Navigation
internal import Synchronization

/// A delay after which a coordinator publishes a report, if the state then still waits for ``object``.
struct Deadline: Sendable {
    /// A leaving screen, or a rule that waits for the answer to its guard (an attempt).
    struct Object: Hashable, Sendable {
        let session: String
        let kind: Document.Deadline.Object
        /// The identifier of the screen instance, or of the attempt.
        let id: String
    }

    let object: Object
    let delay: Duration
    /// The attributes of the message that made the state wait, or of the restored document that recorded the wait.
    let cause: Attributes

    /// All objects that a state waits for: its leaving screens and its attempt. Empty if the state is nil.
    static func objects(in state: NavigationState?, of session: String) -> Set<Object> {
        guard let state else { return [] }
        let screens = state.leaving.map { Object(session: session, kind: .screen, id: $0.id) }
        let attempts = [state.attempt].compactMap(\.self).map { Object(session: session, kind: .attempt, id: $0.id) }
        return Set(screens + attempts)
    }

    func document(platform: String) -> Document.Deadline {
        Document.Deadline(
            platform: platform, object: object.kind, id: object.id,
            delay: Int64(delay / .milliseconds(1)))
    }
}

extension Deadline {
    /// - Throws: ``BusError`` if the message is not a `document.Deadline`.
    init(_ envelope: Envelope) throws {
        let document = try envelope.decode(Document.Deadline.self)
        object = Object(session: envelope.subject, kind: document.object, id: document.id)
        delay = .milliseconds(max(0, document.delay))
        cause = envelope.attributes
    }
}

/// The partitions that belong to this coordinator, and the recorded deadlines of their sessions.
final class OpenDeadlines: Sendable {
    /// The wait for a deadline. If the deadline is closed and opened again, it gets a new timer.
    struct Timer: Sendable {
        let deadline: Deadline
        fileprivate let number: Int
    }

    private struct Opened {
        var partitions: Set<Partition> = []
        /// The numbers of the timers, by session.
        var numbers: [String: [Deadline.Object: Int]] = [:]
        var count = 0
        /// The deadlines that were closed since the recorded ones are being read. Nil while they are not read.
        var closedMeanwhile: Set<Deadline.Object>?

        /// Nil if the deadline is open already.
        mutating func open(_ deadline: Deadline) -> Timer? {
            guard numbers[deadline.object.session]?[deadline.object] == nil else { return nil }
            count += 1
            numbers[deadline.object.session, default: [:]][deadline.object] = count
            return Timer(deadline: deadline, number: count)
        }

        mutating func close(_ object: Deadline.Object) {
            numbers[object.session]?[object] = nil
            if numbers[object.session]?.isEmpty == true { numbers[object.session] = nil }
            closedMeanwhile?.insert(object)
        }
    }

    private let opened = Mutex(Opened())
    /// One task for each timer.
    let timers = ConsumerTasks<Timer>()

    /// Starts the timers of deadlines that are not open yet.
    func open(_ deadlines: [Deadline]) {
        let started = opened.withLock { opened in deadlines.compactMap { opened.open($0) } }
        for timer in started { timers.begin(timer) }
    }

    func close(_ closed: Set<Deadline.Object>) {
        opened.withLock { opened in
            for object in closed { opened.close(object) }
        }
    }

    /// Takes partitions in place of the former ones. Closes the deadlines of all other partitions, and those that are
    /// no longer recorded: the reply to the batch that withdrew them may have been lost.
    ///
    /// The results of a partition that stays can be recorded at the same time. So a deadline that was opened since
    /// the reading began stays open, and one that was closed since then stays closed.
    /// - Parameter read: returns the recorded deadlines of the partitions.
    func take(_ partitions: Set<Partition>, _ read: () async throws -> [Deadline]) async throws {
        let last = opened.withLock { opened in
            opened.numbers = opened.numbers.filter { partitions.contains(Partition(subject: $0.key)) }
            opened.partitions = partitions
            opened.closedMeanwhile = []
            return opened.count
        }
        defer { opened.withLock { $0.closedMeanwhile = nil } }
        let recorded = try await read()
        let objects = Set(recorded.map(\.object))
        let started = opened.withLock { opened in
            let known = opened.numbers.values.flatMap(\.self)
            for (object, number) in known where number <= last && !objects.contains(object) { opened.close(object) }
            let closed = opened.closedMeanwhile ?? []
            return recorded.filter { !closed.contains($0.object) }.compactMap { opened.open($0) }
        }
        for timer in started { timers.begin(timer) }
    }

    func isOwn(_ partition: Partition) -> Bool { opened.withLock { $0.partitions.contains(partition) } }

    func objects(of session: String) -> Set<Deadline.Object> {
        opened.withLock { Set($0.numbers[session]?.keys.map(\.self) ?? []) }
    }

    func isOpen(_ timer: Timer) -> Bool {
        let object = timer.deadline.object
        return opened.withLock { $0.numbers[object.session]?[object] == timer.number }
    }
}
