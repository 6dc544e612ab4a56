internal import BusFormat
internal import EventBus
internal import Foundation
internal import NATS
internal import NATSLayout
internal import Support

/// Reading and writing single records and batches. The stream's leader answers.
extension Journal {
    /// Reads the last record of a subject. A damaged one is reported.
    /// - Throws: ``BusError`` with code `refused` if a newer program has written the record.
    func read<Record: LayoutRecord>(
        _ type: Record.Type = Record.self, _ subject: BusSubject, of stream: String? = nil
    ) async throws -> RecordReading<Record> {
        try await last(self.subject(subject), of: stream).map { try record(type, of: $0) } ?? .absent
    }

    /// The record of a message. A damaged one is reported.
    /// - Throws: As ``read(_:_:of:)``.
    func record<Record: LayoutRecord>(
        _ type: Record.Type = Record.self, of stored: StoredMessage
    ) throws -> RecordReading<Record> {
        do {
            let record = try RecordReading<Record>(
                json: stored.body, copy: Record.copyHeader.flatMap { stored.headers[$0] }, subject: stored.subject,
                sequence: stored.sequence)
            if let damaged = record.damage { report(damaged) }
            return record
        } catch {
            throw BusError(.refused, error.message)
        }
    }

    /// The last message of a subject. Nil if there is none.
    func last(_ subject: String, of stream: String? = nil) async throws -> StoredMessage? {
        try await retrying { try await jetStream.lastMessage(of: stream ?? names.journal, subject: subject) }
    }

    /// The subjects of a stream that have messages.
    func subjects(of stream: String, matching filter: String) async throws -> [String] {
        try await Array(retrying { try await jetStream.subjects(of: stream, matching: filter) }.keys)
    }

    /// Writes a record.
    /// - Parameter last: The sequence of the record that this one replaces; 0 if there is none.
    /// - Returns: The sequence; nil if another record has replaced `last` before.
    func write(
        _ record: some LayoutRecord, _ subject: BusSubject, after last: UInt64
    ) async throws -> UInt64? {
        let (text, (headers, body)) = (self.subject(subject), try record.message())
        var isRepeated = false
        return try await retrying {
            defer { isRepeated = true }
            do {
                let stored = try await jetStream.publish(
                    text, headers: NATSHeaders(headers), body: body, expecting: LastSequence(Int(last)),
                    timeout: .seconds(2))
                return UInt64(stored.sequence)
            } catch let error as JetStreamError where error.code == .wrongLastSequence {
                // An earlier attempt whose acknowledgement was lost may have stored the record.
                guard isRepeated,
                    let stored = try await jetStream.lastMessage(of: names.journal, subject: text), stored.body == body
                else { return nil }
                return UInt64(stored.sequence)
            }
        }
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
