package import BusFormat
package import EventBus
internal import Foundation

/// A dead letter, as the steward keeps it under `x.CONSUMER.SEQUENCE`: the batch that gave up the message, without its
/// other messages, and the time of that batch.
package struct DeadLetterRecord: Hashable, Sendable {
    private static let timeHeader = "Segue-Time"
    private static let epochHeader = "Segue-Epoch"

    package let batch: BatchMessage
    /// The time at which the journal has stored the batch, in nanoseconds since 1970.
    package let time: Int64
    /// The epoch of the journal.
    package let epoch: UInt64

    /// - Parameter progress: The progress that the batch records: that of the message that was given up.
    package init(_ rejected: RejectedMessage, progress: RecordedProgress, time: Int64, epoch: UInt64) {
        batch = BatchMessage(
            headers: BatchHeaders(id: "", count: 0, progress: progress, hasRejection: true), body: rejected.bytes)
        self.time = time
        self.epoch = epoch
    }

    private init(_ batch: BatchMessage, time: Int64, epoch: UInt64) {
        self.batch = batch
        self.time = time
        self.epoch = epoch
    }

    /// The same letter in a journal with another epoch.
    package func moved(to epoch: UInt64) -> DeadLetterRecord {
        DeadLetterRecord(batch, time: time, epoch: epoch)
    }

    package var fields: [(name: String, value: String)] {
        batch.headers.fields + [(Self.timeHeader, String(time)), (Self.epochHeader, String(epoch))]
    }

    package var body: [UInt8] { batch.body }

    /// - Throws: ``ProtocolError`` if the record is damaged.
    package init(fields: [String: String], body: [UInt8]) throws(ProtocolError) {
        guard let time = fields[Self.timeHeader].flatMap({ Int64($0) }),
            let epoch = fields[Self.epochHeader].flatMap({ UInt64($0) })
        else { throw ProtocolError(.malformed, "a dead letter has no time or epoch") }
        batch = try BatchMessage(fields: fields, body: body)
        guard batch.headers.hasRejection else {
            throw ProtocolError(.malformed, "a dead letter does not have the message that was given up")
        }
        self.time = time
        self.epoch = epoch
    }

    /// The dead letter under the subject `x.CONSUMER.SEQUENCE`.
    /// - Throws: ``ProtocolError`` if the record is damaged; ``BusError`` with code `malformed` if the topic of the
    ///   message is invalid.
    package func deadLetter(of consumer: String, sequence: UInt64) throws -> DeadLetter? {
        try batch.content(at: sequence, of: epoch).rejected?.deadLetter(
            of: consumer, sequence: sequence, time: Date(timeIntervalSince1970: Double(time) / 1_000_000_000))
    }
}
