internal import BusFormat
internal import EventBus
package import Foundation
package import NATS
package import NATSLayout

/// A client that repeats its requests while servers are away.
package protocol RepeatedRequests: Sendable {
    /// Repeats an operation while it fails with an error that is temporary.
    func retrying<Result>(_ operation: () async throws -> Result) async throws -> Result
}

extension JetStream: RepeatedRequests {}

/// The records of a bus on NATS. It reads them from the leader of a stream, reports those that are damaged, and
/// replaces a record on the condition that it has not changed.
///
/// Methods that read throw ``ProtocolError`` with code `version` if a newer program has written the record.
package struct RecordStore: Sendable {
    private let jetStream: JetStream
    private let names: StreamNames
    private let requests: any RepeatedRequests
    private let report: @Sendable (DamagedRecord) -> Void

    /// - Parameters:
    ///   - requests: What repeats the requests; nil for `jetStream`.
    ///   - report: Is called with each damaged record that is read.
    package init(
        _ jetStream: JetStream, _ names: StreamNames, repeating requests: (any RepeatedRequests)? = nil,
        reporting report: @escaping @Sendable (DamagedRecord) -> Void
    ) {
        self.jetStream = jetStream
        self.names = names
        self.requests = requests ?? jetStream
        self.report = report
    }

    // MARK: Reading

    /// The last record of a subject.
    /// - Parameter stream: Nil for the journal.
    package func last<Record: LayoutRecord>(
        _ type: Record.Type, _ subject: BusSubject, of stream: String? = nil
    ) async throws -> RecordReading<Record> {
        let text = subject.text(in: names.namespace)
        let last = try await requests.retrying {
            try await jetStream.lastMessage(of: stream ?? names.journal, subject: text)
        }
        return try last.map { try record(type, of: $0) } ?? .absent
    }

    package func record<Record: LayoutRecord>(
        _ type: Record.Type, of stored: StoredMessage
    ) throws -> RecordReading<Record> {
        try checked(stored.body, subject: stored.subject, sequence: stored.sequence) { stored.headers[$0] }
    }

    package func record<Record: LayoutRecord>(
        _ type: Record.Type, of delivered: DeliveredMessage
    ) throws -> RecordReading<Record> {
        try checked(delivered.message.body, subject: delivered.subject, sequence: delivered.streamSequence) {
            delivered.message.header($0)
        }
    }

    private func checked<Record: LayoutRecord>(
        _ body: [UInt8], subject: String, sequence: Int, header: (String) -> String?
    ) throws -> RecordReading<Record> {
        let reading = try RecordReading<Record>(
            json: body, copy: Record.copyHeader.flatMap(header), subject: subject, sequence: sequence)
        if let damaged = reading.damage { report(damaged) }
        return reading
    }

    // MARK: Writing

    /// Replaces a record. If an earlier attempt of this call may have been stored, a record with the same body counts
    /// as its own. So do not use it where an equal record of another author must be noticed.
    /// - Parameters:
    ///   - last: The sequence of the record that is replaced; 0 if there is none.
    ///   - stream: Nil for the journal.
    /// - Returns: The sequence; nil if another record has replaced `last` before.
    package func replace(
        _ last: UInt64, by record: some LayoutRecord, at subject: BusSubject, of stream: String? = nil
    ) async throws -> UInt64? {
        let (text, (headers, body)) = (subject.text(in: names.namespace), try record.message())
        var isRepeated = false
        return try await requests.retrying {
            defer { isRepeated = true }
            do {
                let stored = try await jetStream.publish(
                    text, headers: NATSHeaders(headers), body: body, expecting: LastSequence(Int(clamping: last)),
                    timeout: .seconds(2))
                return UInt64(stored.sequence)
            } catch let error as JetStreamError where error.code == .wrongLastSequence {
                guard isRepeated,
                    let stored = try await jetStream.lastMessage(of: stream ?? names.journal, subject: text),
                    stored.sequence > Int(clamping: last), stored.body == body
                else { return nil }
                return UInt64(stored.sequence)
            }
        }
    }

    // MARK: Fences

    /// Replaces the fence of a partition by one with a higher owner generation, unless it has this one or a higher one.
    /// - Parameters:
    ///   - last: The fence as it was read last.
    ///   - isReplaced: False for another fence that stays.
    /// - Returns: The fence that the partition has then, with its sequence.
    package func raiseFence(
        of owner: ConsumerPartition, to ownerGeneration: UInt64, member: UUID, after last: RecordReading<FenceRecord>,
        where isReplaced: (FenceRecord) -> Bool = { _ in true }
    ) async throws -> (fence: FenceRecord, sequence: UInt64) {
        var last = last
        while true {
            if let fence = last.value, fence.ownerGeneration >= ownerGeneration || !isReplaced(fence) {
                return (fence, last.sequence)
            }
            let fence = FenceRecord(
                ownerGeneration: ownerGeneration, previous: last.value?.ownerGeneration ?? 0, member: member)
            if let sequence = try await replace(last.sequence, by: fence, at: .fence(owner)) {
                return (fence, sequence)
            }
            // The server that was asked before lags behind, or another author was faster.
            last = try await self.last(FenceRecord.self, .fence(owner))
        }
    }
}
