internal import BusFormat
internal import EventBus
internal import Foundation
internal import NATS
internal import NATSJournal
internal import NATSLayout
internal import Support

/// Reading and writing single records and batches. The stream's leader answers.
extension JournalConnection {
    private var records: RecordStore { RecordStore(jetStream, names, repeating: self, reporting: report) }

    /// Reads the last record of a subject. A damaged one is reported.
    /// - Throws: ``BusError`` with code `refused` if a newer program has written the record.
    func read<Record: LayoutRecord>(
        _ type: Record.Type = Record.self, _ subject: BusSubject, of stream: String? = nil
    ) async throws -> RecordReading<Record> {
        do { return try await records.last(type, subject, of: stream) } catch { throw Self.refusingNewer(error) }
    }

    /// The record of a message. A damaged one is reported.
    /// - Throws: As ``read(_:_:of:)``.
    func record<Record: LayoutRecord>(
        _ type: Record.Type = Record.self, of stored: StoredMessage
    ) throws -> RecordReading<Record> {
        do { return try records.record(type, of: stored) } catch { throw Self.refusingNewer(error) }
    }

    /// Writes a record: see ``RecordStore/replace(_:by:at:of:)``.
    /// - Parameter last: The sequence of the record that this one replaces; 0 if there is none.
    func write(_ record: some LayoutRecord, _ subject: BusSubject, after last: UInt64) async throws -> UInt64? {
        try await records.replace(last, by: record, at: subject)
    }

    /// Replaces the fence of a partition: see ``RecordStore/raiseFence(of:to:member:after:where:)``.
    func raiseFence(
        of owner: ConsumerPartition, to ownerGeneration: UInt64, member: UUID, after last: RecordReading<FenceRecord>
    ) async throws -> (fence: FenceRecord, sequence: UInt64) {
        do {
            return try await records.raiseFence(of: owner, to: ownerGeneration, member: member, after: last)
        } catch {
            throw Self.refusingNewer(error)
        }
    }

    /// A caller cannot continue without a record that a newer program has written.
    private static func refusingNewer(_ error: any Error) -> any Error {
        (error as? ProtocolError).map { BusError(.refused, $0.message) } ?? error
    }

    /// The last message of a subject. Nil if there is none.
    func last(_ subject: String, of stream: String? = nil) async throws -> StoredMessage? {
        try await retrying { try await jetStream.lastMessage(of: stream ?? names.journal, subject: subject) }
    }

    /// The subjects of a stream that have messages.
    func subjects(of stream: String, matching filter: String) async throws -> [String] {
        try await Array(retrying { try await jetStream.subjects(of: stream, matching: filter) }.keys)
    }

    /// The batch that the journal has at a sequence, with the subject and the time of its storing. Nil if there is
    /// none.
    func batch(at sequence: UInt64) async throws -> (subject: BusSubject, batch: BatchMessage, time: Date)? {
        guard sequence > 0, let number = Int(exactly: sequence) else { return nil }
        let stored = try await retrying { try await jetStream.message(of: names.journal, sequence: number) }
        guard let stored, let subject = BusSubject(stored.subject, in: names.namespace),
            let batch = try? BatchMessage(fields: stored.headers.fields, body: stored.body)
        else { return nil }
        return (subject, batch, stored.date)
    }
}

extension JournalConnection: RepeatedRequests {}
