package import BusFormat
internal import EventBus
internal import Support

/// A record that is kept as JSON under a subject of its own, and replaced only on the condition that the last one has
/// not changed: each write expects the sequence of the record that it was made from.
///
/// Records are read as ``RecordReading``. `init(json:)` is for messages that are not kept, such as a heartbeat.
package protocol LayoutRecord: Codable, Hashable, Sendable {
    /// The name of the record in errors.
    static var title: String { get }
    /// The header that repeats the record, for readers of headers; nil if there is none.
    static var copyHeader: String? { get }
    /// Checks what the types of the fields do not.
    /// - Throws: ``ProtocolError`` with code `malformed` or `tooLarge`.
    func check() throws(ProtocolError)
}

extension LayoutRecord {
    package static var copyHeader: String? { nil }

    package func check() throws(ProtocolError) {}

    /// The record as a message is stored.
    package func message() throws -> (headers: [(name: String, value: String)], body: [UInt8]) {
        let json = try json()
        return (Self.copyHeader.map { [($0, String(decoding: json, as: UTF8.self))] } ?? [], json)
    }

    /// JSON, with the version of the layout.
    package func json() throws -> [UInt8] {
        try JSONWriter.bytes(of: Versioned(version: RecordVersion.current, record: self))
    }

    /// - Throws: ``ProtocolError`` with code `version` if a newer program has written the record; `malformed` or
    ///   `tooLarge` if it is damaged.
    package init(json: some Collection<UInt8>) throws(ProtocolError) {
        guard json.count <= RecordVersion.maximumSize else {
            throw ProtocolError(.tooLarge, "\(Self.title) exceeds \(RecordVersion.maximumSize) bytes")
        }
        do {
            let version = try JSONReader.decode(RecordVersion.self, from: json).version
            guard version <= RecordVersion.current else {
                throw ProtocolError(
                    .version,
                    "\(Self.title) has version \(version), and this program knows version \(RecordVersion.current); "
                        + "update this program")
            }
            guard version == RecordVersion.current else {
                throw ProtocolError(.malformed, "\(Self.title) is damaged: no program writes version \(version)")
            }
            self = try JSONReader.decode(Versioned<Self>.self, from: json).record
            try check()
        } catch let error as ProtocolError {
            throw error
        } catch {
            let reason = (error as? DecodingError)?.summary ?? "it cannot be read"
            throw ProtocolError(.malformed, "\(Self.title) is damaged: \(reason)")
        }
    }
}

private struct RecordVersion: Decodable {
    static let current = 1
    static let maximumSize = 1024 * 1024

    let version: Int
}

private struct Versioned<Record: LayoutRecord>: Codable {
    let version: Int
    let record: Record
}

/// The last record of a subject, as a server has it. The reader decides what a damaged one means; it does not end the
/// work with other records.
package enum RecordReading<Record: LayoutRecord>: Sendable {
    case absent
    case value(Record, sequence: UInt64)
    case damaged(DamagedRecord)

    /// - Parameter copy: The same record in the header ``LayoutRecord/copyHeader``; nil if it has none.
    /// - Throws: ``ProtocolError`` with code `version` if a newer program has written the record: it must not be replaced.
    package init(
        json: some Collection<UInt8>, copy: String? = nil, subject: String, sequence: Int
    ) throws(ProtocolError) {
        do {
            self = .value(try Record(json: json), sequence: UInt64(clamping: sequence))
        } catch {
            if let copy, let record = try? Record(json: copy.utf8) {
                self = .value(record, sequence: UInt64(clamping: sequence))
                return
            }
            if error.code == .version { throw ProtocolError(.version, "\(error.message); it is at '\(subject)'") }
            self = .damaged(
                DamagedRecord(subject: subject, sequence: UInt64(clamping: sequence), reason: error.message))
        }
    }

    /// The record if it is valid.
    package var value: Record? {
        if case .value(let record, _) = self { record } else { nil }
    }

    /// The sequence that a replacement expects; 0 if there is no record.
    package var sequence: UInt64 {
        switch self {
        case .absent: 0
        case .value(_, let sequence): sequence
        case .damaged(let damaged): damaged.sequence
        }
    }

    /// Nil unless the record is damaged.
    package var damage: DamagedRecord? {
        if case .damaged(let damaged) = self { damaged } else { nil }
    }
}

/// A record that cannot be read, or has impossible values.
package struct DamagedRecord: Hashable, Sendable, CustomStringConvertible {
    /// The code of its report.
    package static let code = "record.damaged"

    package let subject: String
    package let sequence: UInt64
    /// One line: which record it is, and what is wrong with it.
    package let reason: String

    package var description: String {
        "\(reason); it is message \(sequence) of '\(subject)', and counts as missing"
    }
}

/// The damaged records that were reported, so that each is reported once.
package struct ReportedDamage: Sendable {
    /// Beyond this number all are forgotten, and may be reported again.
    private static let capacity = 4096

    private var known: Set<DamagedRecord> = []

    package init() {}

    /// - Returns: True if the record was not reported before.
    package mutating func insert(_ damaged: DamagedRecord) -> Bool {
        if known.count >= Self.capacity { known = [] }
        return known.insert(damaged).inserted
    }
}
