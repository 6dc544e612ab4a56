package import BusFormat
internal import EventBus
package import Foundation

/// A message of the journal that a client has received or published. The journal has lost its end if it has another
/// message at this sequence.
package struct SeenMessage: Codable, Hashable, Sendable {
    package let sequence: UInt64
    /// The time at which the leader has stored a received message, or shortly after it for a published one, in
    /// nanoseconds since 1970.
    package let time: Int64
    /// The id of a published message; nil for a received one.
    package let id: String?

    package init(sequence: UInt64, time: Int64, id: String? = nil) {
        self.sequence = sequence
        self.time = time
        self.id = id
    }

    /// True if a stream has lost this message: it has another one at this sequence, or ends before it. A message that
    /// is missing before the end was removed by retention.
    /// - Parameters:
    ///   - stored: The time and the id of the message that the stream has at this sequence; nil if it has none.
    ///   - end: The last sequence of the stream, asked for after this message was received or published.
    package func isLost(_ stored: (time: Int64, id: String?)?, upTo end: UInt64) -> Bool {
        guard let stored else { return sequence > end }
        return id.map { $0 != stored.id } ?? (time != stored.time)
    }
}

/// The state of a client, sent to the steward once a second, as a request to `hb`. The reply is a ``HeartbeatReply``;
/// without a steward there is none.
package struct Heartbeat: LayoutRecord {
    package static let title = "a heartbeat"
    private static let maximumMemberCount = 1024
    /// The number of members that a client puts into one heartbeat, so that it is not too large for a server.
    private static let memberCount = 128
    private static let maximumProblemSize = 1024
    /// The size to which a client shortens a problem.
    private static let problemSize = 1000
    private static let maximumIDSize = 4096

    /// A member of a durable consumer that this process runs.
    package struct Member: Codable, Hashable, Sendable {
        package let consumer: String
        package let id: UUID
        package let isExclusive: Bool
        /// One line: why the member has had no valid claim for some time; nil if it has one.
        package let problem: String?

        /// - Parameter problem: One that is too long is shortened.
        package init(consumer: String, id: UUID, isExclusive: Bool, problem: String? = nil) {
            self.problem = problem?.shortened(to: Heartbeat.problemSize)
            self.consumer = consumer
            self.id = id
            self.isExclusive = isExclusive
        }
    }

    private let producerDigits: String
    package let members: [Member]
    /// The highest sequence of a batch that the client has seen, or of a fence that it has stored; 0 for none.
    package let seen: UInt64
    /// The epoch of the journal to which `seen` and `last` belong; 0 if none was seen.
    package let epoch: UInt64
    /// The last message that the client has received; nil for none.
    package let last: SeenMessage?
    /// True if the client has found another message in the place of `last`, or none.
    package let lacksLast: Bool?

    /// The identity of the client.
    package var producer: ProducerID? { ProducerID(hexadecimal: producerDigits) }

    package init(
        producer: ProducerID, members: [Member], seen: UInt64, epoch: UInt64, last: SeenMessage? = nil,
        lacksLast: Bool? = nil
    ) {
        self.lacksLast = lacksLast
        self.last = last
        producerDigits = producer.hexadecimal
        self.members = members
        self.seen = seen
        self.epoch = epoch
    }

    /// The heartbeats of a client: several if it has many members. Only the last one has what the client has seen, so
    /// that it counts once.
    package var parts: [Heartbeat] {
        guard members.count > Self.memberCount, let producer else { return [self] }
        let starts = stride(from: 0, to: members.count, by: Self.memberCount)
        var parts = starts.map { start in
            Heartbeat(
                producer: producer, members: Array(members[start...].prefix(Self.memberCount)), seen: 0, epoch: 0)
        }
        let rest = parts.removeLast().members
        parts.append(
            Heartbeat(
                producer: producer, members: rest, seen: seen, epoch: epoch, last: last, lacksLast: lacksLast))
        return parts
    }

    package func check() throws(ProtocolError) {
        guard producer != nil else { throw ProtocolError(.malformed, "\(Self.title) has no valid producer") }
        guard max(seen, last?.sequence ?? 0) <= StreamPosition.maximumSequence else {
            throw ProtocolError(.malformed, "\(Self.title) has a sequence that is too high")
        }
        // From 1970 to 2116, in nanoseconds.
        guard (1...Int64.max / 2).contains(last?.time ?? 1) else {
            throw ProtocolError(.malformed, "\(Self.title) has an impossible time")
        }
        guard members.count <= Self.maximumMemberCount else {
            throw ProtocolError(.tooLarge, "\(Self.title) has more than \(Self.maximumMemberCount) members")
        }
        guard last?.id?.utf8.count ?? 0 <= Self.maximumIDSize else {
            throw ProtocolError(.tooLarge, "\(Self.title) has an id of more than \(Self.maximumIDSize) bytes")
        }
        guard members.allSatisfy({ $0.problem?.utf8.count ?? 0 <= Self.maximumProblemSize }) else {
            throw ProtocolError(.tooLarge, "\(Self.title) has a problem of more than \(Self.maximumProblemSize) bytes")
        }
    }
}

/// The steward's reply to a ``Heartbeat``.
package struct HeartbeatReply: LayoutRecord {
    package static let title = "the reply to a heartbeat"

    package let epoch: UInt64
    /// The sequence of the journal up to which documents and dead letters are up to date.
    package let watermark: UInt64

    private enum CodingKeys: String, CodingKey {
        case epoch
        case watermark = "mark"
    }

    package init(epoch: UInt64, watermark: UInt64) {
        self.epoch = epoch
        self.watermark = watermark
    }

    package func check() throws(ProtocolError) {
        guard watermark <= StreamPosition.maximumSequence else {
            throw ProtocolError(.malformed, "\(Self.title) has a watermark that is too high")
        }
    }
}
