internal import Foundation
internal import NATS
internal import NATSLayout

/// Takes part in the election of the steward: hears and publishes announcements, and reads and writes the record.
actor ElectionDriver {
    private static let interval = Duration.milliseconds(250)

    private let jetStream: JetStream
    private let names: StreamNames
    private var election: StewardElection

    init(_ jetStream: JetStream, _ names: StreamNames, instance: UUID = UUID(), at now: ContinuousClock.Instant = .now)
    {
        self.jetStream = jetStream
        self.names = names
        election = StewardElection(instance: instance, at: now)
    }

    /// The record of this process while it leads.
    var term: StewardRecord? { election.term }

    /// Hears the announcements of other stewards.
    func listen() async throws {
        let subject = BusSubject.alive.text(in: names.namespace)
        try await jetStream.connection.withSubscription(to: subject) { subscription in
            while true {
                switch try await subscription.next() {
                case .message(let message):
                    guard let record = try? StewardRecord(json: message.body) else { continue }
                    election.heard(record, at: .now)
                case .lost: election.noteAbsence(at: .now)
                }
            }
        }
    }

    /// Waits until this process leads.
    /// - Parameter following: Is called when another process leads, or may lead.
    func waitUntilElected(following: @Sendable () async throws -> Void) async throws -> StewardRecord {
        var isFollowing = false
        while true {
            if case .connected = jetStream.connection.current {} else { election.noteAbsence(at: .now) }
            if election.step(at: .now) == .look { try await stand() }
            if let record = election.term { return record }
            if !isFollowing { try await following() }
            isFollowing = true
            try await Task.sleep(for: Self.interval)
        }
    }

    private func stand() async throws {
        let (last, sequence) = try await read()
        guard let candidate = election.found(last, at: .now) else { return }
        let stored = try await jetStream.publishIf(
            subject, body: try candidate.json(), id: "steward-\(candidate.instance)-\(candidate.term)",
            last: LastSequence(sequence))
        // The reply to the first attempt to write may have been lost.
        let hasWon = if stored == nil { try await read().record == candidate } else { true }
        if hasWon { election.won(candidate, at: .now) }
    }

    /// Announces this process until it no longer leads.
    /// - Throws: ``Deposed``.
    func keep() async throws {
        while true {
            if case .announce(let record) = election.step(at: .now) {
                // Without a connection the next announcement follows in a second.
                try? jetStream.connection.publish(
                    BusSubject.alive.text(in: names.namespace), body: try record.json())
                _ = election.found(try await read().record, at: .now)
            }
            guard election.term != nil else { throw Deposed() }
            try await Task.sleep(for: Self.interval)
        }
    }

    /// Gives the office up, because this process cannot do its work.
    func resign() {
        election.resign(at: .now)
    }

    private var subject: String { BusSubject.steward.text(in: names.namespace) }

    /// Reads the record of the last steward, and the sequence that it has in the journal, which is 0 if it is not there.
    private func read() async throws -> (record: StewardRecord?, sequence: Int) {
        if let last = try await jetStream.last(subject, of: names.journal) {
            return (try StewardRecord(json: last.body), last.sequence)
        }
        // The servers remove the record if the journal becomes too large. Each steward also writes it as its fences, in
        // streams without a limit. If the terms began again at 1, the new steward could not replace these fences.
        let fence = BusSubject.letterFence.text(in: names.namespace)
        return (try await jetStream.last(fence, of: names.deadLetters).map { try StewardRecord(json: $0.body) }, 0)
    }
}
