internal import BusProtocol
internal import EventBus
internal import Foundation
internal import NATS
internal import NATSLayout
internal import Support

/// The journal on JetStream, as the parts of the bus read and write it.
///
/// The servers may be away at any time: every method waits until they are back.
struct JournalAccess: Sendable {
    let jetStream: JetStream
    let names: StreamNames
    /// Returns the epoch of the journal. Waits until it is known.
    let epoch: @Sendable () async throws -> UInt64

    var connection: NATSConnection { jetStream.connection }

    func text(_ subject: BusSubject) -> String { subject.text(in: names.namespace) }

    // MARK: Patience

    /// Repeats an operation while it fails because servers are away, elect a leader or are busy.
    /// - Throws: ``BusError``; ``JetStreamError`` `wrongLastSequence`; `CancellationError`.
    func patiently<Result>(
        _ operation: nonisolated(nonsending) () async throws -> Result
    ) async throws -> Result {
        var attempt = 0
        while true {
            do {
                return try await operation()
            } catch {
                try await pause(after: error, attempt: attempt)
                attempt += 1
            }
        }
    }

    /// Waits until an operation that has failed with `error` can be tried again.
    /// - Throws: An error if trying again is useless: see ``patiently(_:)``.
    func pause(after error: any Error, attempt: Int) async throws {
        try Task.checkCancellation()
        let growing = Duration.milliseconds(min(1000, 50 << min(attempt, 5)))
        switch error {
        case let error as NATSError:
            switch error.code {
            case .disconnected: try await waitForConnection()
            case .noResponders, .timeout, .congested: try await Task.sleep(for: growing)
            case .closed: throw BusError(.closed, "the bus was closed: its run() has ended")
            case .denied, .tooLarge, .overflow, .invalid: throw BusError(.refused, error.message)
            }
        case let error as JetStreamError:
            switch error.code {
            case .expectationUnderWay: try await Task.sleep(for: .milliseconds(Int.random(in: 10...30)))
            // The steward has not made the stream yet.
            case .streamNotFound: try await Task.sleep(for: growing)
            case .wrongLastSequence: throw error
            case .limitReached, .storageFull, .insufficientResources: throw BusError(.journal, error.message)
            default:
                guard error.isTemporary else { throw BusError(.refused, error.message) }
                try await Task.sleep(for: growing)
            }
        default: throw error
        }
    }

    private func waitForConnection() async throws {
        // The state can still be that before the loss.
        try await Task.sleep(for: .milliseconds(20))
        for await state in connection.changes() {
            if case .connected = state { return }
        }
        try Task.checkCancellation()
        throw BusError(.closed, "the bus was closed: its run() has ended")
    }

    // MARK: Records

    /// A record with its sequence in the stream.
    struct Recorded<Record: LayoutRecord>: Sendable {
        let record: Record
        let sequence: UInt64
    }

    /// Reads the last record of a subject from the stream's leader. Nil if there is none.
    /// - Throws: ``BusError`` with code `refused` if the record is damaged, or a newer program has written it.
    func read<Record: LayoutRecord>(
        _ type: Record.Type = Record.self, _ subject: BusSubject, of stream: String? = nil
    ) async throws -> Recorded<Record>? {
        let text = text(subject)
        let stored = try await patiently {
            try await jetStream.lastMessage(of: stream ?? names.journal, subject: text)
        }
        return try stored.map { try Self.record($0) }
    }

    static func record<Record: LayoutRecord>(_ stored: StoredMessage) throws -> Recorded<Record> {
        do {
            return Recorded(record: try Record(json: stored.body), sequence: UInt64(stored.sequence))
        } catch {
            throw BusError(.refused, "\(error.message); it is at '\(stored.subject)'")
        }
    }

    /// The subjects of a stream that have messages, from the leader.
    func subjects(of stream: String, matching filter: String) async throws -> [String] {
        let response = try await patiently {
            try await jetStream.call("STREAM.INFO.\(stream)", ["subjects_filter": .string(filter)])
        }
        return response["state"]?["subjects"]?.objectValue.map { Array($0.keys) } ?? []
    }

    /// Writes a record.
    /// - Parameter last: The sequence of the record that this one replaces; 0 if there is none.
    /// - Returns: The sequence; nil if another record has replaced `last` before.
    func write(
        _ record: some LayoutRecord, _ subject: BusSubject, after last: UInt64, headers: NATSHeaders = [:]
    ) async throws -> UInt64? {
        let (text, body) = (text(subject), try record.json())
        var attempt = 0
        while true {
            do {
                let stored = try await jetStream.publish(
                    text, headers: headers, body: body, expecting: LastSequence(Int(last)), timeout: .seconds(2))
                return UInt64(stored.sequence)
            } catch let error as JetStreamError where error.code == .wrongLastSequence {
                // An earlier attempt whose acknowledgement was lost may have stored the record.
                guard attempt > 0 else { return nil }
                let stored = try await patiently {
                    try await jetStream.lastMessage(of: names.journal, subject: text)
                }
                guard let stored, stored.body == body else { return nil }
                return UInt64(stored.sequence)
            } catch {
                try await pause(after: error, attempt: attempt)
                attempt += 1
            }
        }
    }

    // MARK: Batches

    /// The sequence of the last batch; 0 if there is none.
    func endSequence() async throws -> UInt64 {
        let last = try await patiently {
            try await jetStream.lastMessage(of: names.journal, subject: names.batches)
        }
        return UInt64(last?.sequence ?? 0)
    }

    /// The batch that the journal has at a sequence, with the subject and the time of its storing. Nil if there is
    /// none.
    func batch(at sequence: UInt64) async throws -> (subject: BusSubject, batch: BatchMessage, time: Date)? {
        guard sequence > 0, let number = Int(exactly: sequence) else { return nil }
        let stored = try await patiently {
            try await jetStream.message(of: names.journal, sequence: number)
        }
        guard let stored, let subject = BusSubject(stored.subject, in: names.namespace),
            let batch = try? BatchMessage(fields: stored.headers.fields, body: stored.body)
        else { return nil }
        return (subject, batch, stored.date)
    }

    /// Reads messages of a stream in order, from a new consumer whenever one is lost or has left messages out.
    /// - Parameters:
    ///   - start: The sequence of the first message.
    ///   - isEmptyEnd: True if the reading ends at once when the consumer has nothing to deliver.
    ///   - read: Handles a message. Returns true for the last one.
    func scan(
        _ stream: String, filters: [String], from start: UInt64, headersOnly: Bool, isEmptyEnd: Bool,
        _ read: nonisolated(nonsending) (DeliveredMessage) async throws -> Bool
    ) async throws {
        var next = max(start, 1)
        var attempt = 0
        while true {
            do {
                let settings = ConsumerSettings(
                    filters: filters, start: .sequence(Int(clamping: next)), headersOnly: headersOnly)
                let isComplete = try await jetStream.withConsumer(of: stream, settings) { consumer in
                    if isEmptyEnd, consumer.initialPending == 0 { return true }
                    var last = 0
                    while true {
                        guard case .message(let message) = try await consumer.next() else { continue }
                        guard message.consumerSequence == last + 1 else { return false }
                        last += 1
                        guard UInt64(message.streamSequence) >= next else { continue }
                        next = UInt64(message.streamSequence) + 1
                        attempt = 0
                        if try await read(message) { return true }
                    }
                }
                if isComplete { return }
            } catch let error as JetStreamError where [404, 409].contains(error.status) {
                // The server has lost the consumer.
                try await Task.sleep(for: .milliseconds(50))
            } catch let error as NATSError where error.code == .overflow {
                continue
            } catch {
                try await pause(after: error, attempt: attempt)
                attempt += 1
            }
        }
    }
}

/// The place of a batch that the journal has acknowledged.
struct Sent: Hashable, Sendable {
    /// The sequence in the stream.
    let sequence: UInt64
    /// The offset of the last message; nil if the batch has no messages.
    let offset: UInt64?
}

/// Publishes a batch, however long the servers are away, and sends it again until it is acknowledged.
/// - Throws: ``JetStreamError`` `wrongLastSequence` if the expectation of the batch does not hold; ``BusError``;
///   `CancellationError`.
typealias Send = @Sendable (Publication) async throws -> Sent

/// True if the server has refused a batch because its expectation does not hold.
func isExpectationFailure(_ error: any Error) -> Bool {
    switch error {
    case let error as JetStreamError: error.code == .wrongLastSequence
    case let error as BusError: error.code == .fenced
    default: false
    }
}

extension NATSHeaders {
    /// The headers as a dictionary, as the layout reads them.
    var fields: [String: String] {
        Dictionary(map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    }
}

extension StoredMessage {
    /// The leader's time when it stored the message.
    var date: Date { Date(timeIntervalSince1970: Double(time) / 1_000_000_000) }
}
