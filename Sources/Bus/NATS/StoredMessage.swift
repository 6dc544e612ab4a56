package import Foundation
internal import Support

/// A message as a stream holds it.
package struct StoredMessage: Sendable {
    package let subject: String
    /// The message's place in the stream, from 1.
    package let sequence: Int
    /// The leader's time when it stored the message, in nanoseconds since 1970.
    package let time: Int64
    package let headers: NATSHeaders
    package let body: [UInt8]

    /// See ``time``.
    package var date: Date { Date(timeIntervalSince1970: Double(time) / 1_000_000_000) }
}

extension StoredMessage {
    /// Reads the response of `STREAM.MSG.GET`.
    init?(_ message: JSONValue?) {
        guard let message, let subject = message["subject"]?.stringValue, let sequence = message["seq"]?.countValue,
            let time = message["time"]?.stringValue.flatMap(JetStreamTime.nanoseconds),
            let body = Self.bytes(message["data"]), let headers = Self.bytes(message["hdrs"])
        else { return nil }
        self.init(
            subject: subject, sequence: sequence, time: time, headers: NATSHeaders(stored: headers), body: body)
    }

    private static func bytes(_ base64: JSONValue?) -> [UInt8]? {
        guard let text = base64?.stringValue else { return [] }
        return Data(base64Encoded: text).map { Array($0) }
    }

    /// Reads a reply of a direct get, whose headers contain the place of the message.
    init?(direct message: NATSMessage) {
        var headers = message.headers
        guard let subject = headers["Nats-Subject"],
            let sequence = headers["Nats-Sequence"].flatMap({ Int(count: $0) }),
            let time = headers["Nats-Time-Stamp"].flatMap(JetStreamTime.nanoseconds)
        else { return nil }
        for name in Self.directHeaders { headers[name] = nil }
        self.init(subject: subject, sequence: sequence, time: time, headers: headers, body: message.body)
    }

    /// The headers that a direct get adds.
    private static let directHeaders = [
        "Nats-Stream", "Nats-Subject", "Nats-Sequence", "Nats-Time-Stamp", "Nats-Num-Pending", "Nats-Last-Sequence",
        "Nats-UpTo-Sequence",
    ]
}
