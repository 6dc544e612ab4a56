internal import Foundation
internal import NATS
internal import NATSJournal
internal import NATSLayout

/// Takes part in the election of the steward: receives and publishes announcements, and reads and writes the record.
actor ElectionDriver {
    private static let interval = Duration.milliseconds(250)

    private let jetStream: JetStream
    private let names: StreamNames
    private let records: RecordStore
    private var election: StewardElection
    /// The damaged records that were found, until they are reported.
    private var damaged: [DamagedRecord] = []

    init(_ jetStream: JetStream, _ names: StreamNames, instance: UUID = UUID(), at now: ContinuousClock.Instant = .now)
    {
        self.jetStream = jetStream
        self.names = names
        // It only replaces records: ``keep(reporting:)`` reports those that are damaged.
        records = RecordStore(jetStream, names) { _ in }
        election = StewardElection(instance: instance, at: now)
    }

    /// The record of this process while it leads.
    var term: StewardRecord? { election.term }

    /// Receives the announcements of other stewards.
    func listen() async throws {
        let subject = BusSubject.alive.text(in: names.namespace)
        try await jetStream.connection.withSubscription(to: subject) { subscription in
            while true {
                switch try await subscription.next() {
                case .message(let message):
                    // check-lines: an announcement is not kept. Any process with this right can send anything.
                    guard let record = try? StewardRecord(json: message.body) else { continue }
                    election.handle(record, at: .now)
                case .lost: election.recordAbsence(at: .now)
                }
            }
        }
    }

    /// Waits until this process leads.
    /// - Parameter following: Is called when another process leads, or may lead.
    func waitUntilElected(following: @Sendable () async throws -> Void) async throws -> StewardRecord {
        var isFollowing = false
        while true {
            if case .connected = jetStream.connection.current {} else { election.recordAbsence(at: .now) }
            if election.step(at: .now) == .check { try await stand() }
            if let record = election.term { return record }
            if !isFollowing { try await following() }
            isFollowing = true
            try await Task.sleep(for: Self.interval)
        }
    }

    private func stand() async throws {
        let (last, sequence, _) = try await read()
        guard let candidate = election.found(last, at: .now) else { return }
        if try await records.replace(sequence, by: candidate, at: .steward) != nil {
            election.won(candidate, at: .now)
        }
    }

    /// Announces this process until it no longer leads.
    /// - Parameter report: Is called with the damaged records that are found.
    /// - Throws: ``Deposed``.
    func keep(reporting report: @Sendable (DamagedRecord) -> Void = { _ in }) async throws {
        while true {
            damaged.forEach(report)
            damaged = []
            if case .announce(let record) = election.step(at: .now) {
                // Without a connection the next announcement follows in a second.
                try? jetStream.connection.publish(
                    BusSubject.alive.text(in: names.namespace), body: try record.json())
                let last = try await read()
                if last.isDamaged, let record = election.term {
                    _ = try await records.replace(last.sequence, by: record, at: .steward)
                } else {
                    _ = election.found(last.record, at: .now)
                }
            }
            guard election.term != nil else { throw Deposed() }
            try await Task.sleep(for: Self.interval)
        }
    }

    /// Ends the leadership of this process, because this process cannot do its work.
    func resign() {
        election.resign(at: .now)
    }

    private var subject: String { BusSubject.steward.text(in: names.namespace) }

    /// Reads the record of the last steward, and the sequence that it has in the journal, which is 0 if it is not there.
    private func read() async throws -> (record: StewardRecord?, sequence: UInt64, isDamaged: Bool) {
        let last = try await jetStream.last(subject, of: names.journal)
        if let last {
            let reading = try reading(last)
            if let record = reading.value { return (record, reading.sequence, false) }
        }
        // The servers remove the record if the journal becomes too large, or it is damaged. Each steward also writes it
        // as its fences, in streams without a limit. If the terms began again at 1, the new steward could not replace
        // these fences.
        let fences = [
            (names.deadLetters, BusSubject.letterFence.text(in: names.namespace)),
            (names.documents, names.documentFences),
        ]
        var terms: [StewardRecord] = []
        for (stream, filter) in fences {
            try await jetStream.readAll(of: stream, ConsumerSettings(filters: [filter], start: .lastPerSubject)) {
                let reading = try RecordReading<StewardRecord>(
                    json: $0.message.body, subject: $0.subject, sequence: $0.streamSequence)
                if let record = reading.value { terms.append(record) }
            }
        }
        return (terms.max { $0.term < $1.term }, UInt64(last?.sequence ?? 0), last != nil)
    }

    private func reading(_ last: StoredMessage) throws -> RecordReading<StewardRecord> {
        let reading = try RecordReading<StewardRecord>(
            json: last.body, subject: last.subject, sequence: last.sequence)
        if let damage = reading.damage, !damaged.contains(damage) { damaged = (damaged + [damage]).suffix(16) }
        return reading
    }
}
