internal import BusFormat
internal import EventBus
internal import NATS
internal import NATSLayout
internal import Support

/// The place in the journal after which a transient batch was published: the last batch that its publisher knew.
struct TransientPlace: Hashable, Sendable {
    private static let header = "Segue-After"

    let epoch: UInt64
    let sequence: UInt64

    init(epoch: UInt64, sequence: UInt64) {
        self.epoch = epoch
        self.sequence = sequence
    }

    init?(_ message: NATSMessage) {
        let numbers = (message.header(Self.header) ?? "").split(scalar: "/", omittingEmptySubsequences: false)
        guard numbers.count == 2, let epoch = UInt64(numbers[0]), let sequence = UInt64(numbers[1]),
            sequence <= Place.maximumSequence
        else { return nil }
        self.init(epoch: epoch, sequence: sequence)
    }

    /// The headers of a transient batch.
    func headers(count: Int) -> NATSHeaders {
        [BatchHeaders.Name.batch.rawValue: String(count), Self.header: "\(epoch)/\(sequence)"]
    }
}

extension NATSMessage {
    /// The messages of a transient batch.
    /// - Throws: ``ProtocolError`` if the batch is damaged.
    func transientEnvelopes() throws -> BatchEnvelopes {
        let headers = try BatchHeaders(
            fields: [BatchHeaders.Name.batch.rawValue: header(BatchHeaders.Name.batch.rawValue) ?? ""])
        return try withBody { try BatchEnvelopes(transient: headers, $0) }
    }
}
