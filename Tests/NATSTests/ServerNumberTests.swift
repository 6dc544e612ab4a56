import Support
import Testing

@testable import NATS

@Suite("Numbers in a server's messages")
struct ServerNumberTests {
    private static let extremes = ["-1", "9223372036854775807", "-9223372036854775808", "1e300", "x", ""]

    @Test("A delivered message with negative or too large numbers is refused")
    func places() {
        let parts = ["5", "7", "1700000000000000000", "3"]
        #expect(DeliverySubject("$JS.ACK.S.C.1." + parts.joined(separator: "."))?.streamSequence == 5)
        for (index, number) in [0, 1, 3].flatMap({ index in Self.extremes.map { (index, $0) } }) {
            var wrong = parts
            wrong[index] = number
            #expect(DeliverySubject("$JS.ACK.S.C.1." + wrong.joined(separator: ".")) == nil, "\(wrong)")
        }
    }

    @Test("A stored message with an impossible sequence or time is not read")
    func storedMessages() {
        func message(_ sequence: JSONValue, _ time: JSONValue) -> StoredMessage? {
            StoredMessage(["subject": "a", "seq": sequence, "time": time])
        }
        let time: JSONValue = "2026-11-23T16:08:30.123456789Z"
        #expect(message(1, time)?.time == 1_795_450_110_123_456_789)
        for sequence in [-1, .integer(.max), .integer(.min), 1e300, "1"] as [JSONValue] {
            #expect(message(sequence, time) == nil)
        }
        // 64 bits of nanoseconds end in the year 2262.
        for time in ["9999-12-31T23:59:59Z", "0000-01-01T00:00:00Z", "2300-01-01T00:00:00.5Z"] as [JSONValue] {
            #expect(message(1, time) == nil)
        }
    }

    @Test("A stream's state with an impossible sequence is refused, and an impossible count is 0")
    func streams() throws {
        func info(_ name: String, _ value: JSONValue) throws -> StreamInfo {
            var state: [String: JSONValue] = ["last_seq": 9, "messages": 9, "bytes": 90]
            state[name] = value
            return try StreamInfo(["config": [:], "state": .object(state)], "S")
        }
        for number in [-1, .integer(.max), .integer(.min), 1e300] as [JSONValue] {
            #expect(throws: NATSError.self) { try info("last_seq", number) }
            #expect(try info("messages", number).messageCount == 0)
            #expect(try info("bytes", number).byteCount == 0)
        }
    }
}
