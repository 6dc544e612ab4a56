internal import BusFormat
internal import EventBus
internal import Foundation

/// The data of all benchmarks except `coordinator`, `start` and `envelope`: 256 bytes of JSON,
/// `{"number":100000042,"padding":"xxx…"}`.
enum Payload {
    /// The size of the data, in bytes.
    static let size = 256
    /// The first number. All numbers have nine digits, so that all data has the same size.
    static let firstNumber = 100_000_000
    /// The maximum number of messages in a round. All numbers up to this maximum have nine digits.
    static let messagesLimit = 100_000_000
    static let padding = String(repeating: "x", count: size - prefix.count - digits - #","padding":""}"#.utf8.count)

    private static let prefix = Array(#"{"number":"#.utf8)
    /// The index of the number's first digit.
    static var numberPlace: Int { prefix.count }
    static let digits = 9

    /// The number in the data, read without a parser; 0 if the data is too short.
    static func number(in data: Data) -> Int {
        data.withUnsafeBytes { number(in: $0) }
    }

    static func number(in bytes: UnsafeRawBufferPointer) -> Int {
        guard bytes.count > prefix.count + digits else { return 0 }
        return bytes[prefix.count..<prefix.count + digits].reduce(0) { $0 * 10 + Int($1) - 48 }
    }

    /// Replaces the number in the data.
    static func write(_ number: Int, into data: inout [UInt8]) {
        data.withUnsafeMutableBytes { write(number, into: $0) }
    }

    static func write(_ number: Int, into data: UnsafeMutableRawBufferPointer) {
        var rest = number
        for index in (prefix.count..<prefix.count + digits).reversed() {
            data[index] = UInt8(48 + rest % 10)
            rest /= 10
        }
    }
}

/// The answer in the round trip, and the message of all other benchmarks except `coordinator`.
struct BenchmarkEvent: EventMessage {
    let number: Int
    let padding: String

    init(number: Int) {
        self.number = number
        padding = Payload.padding
    }
}

/// The request in the round trip.
struct BenchmarkRequest: CommandMessage {
    let number: Int
    let padding: String

    init(number: Int) {
        self.number = number
        padding = Payload.padding
    }
}

/// The frames of a real message, for the baselines that send or store them without a bus.
struct MessageFrames: Sendable {
    let topic: [UInt8]
    /// The epoch, the offset, and the offsets of the previous messages of the topic and of the partition.
    let position: [UInt8]
    let header: [UInt8]
    let data: [UInt8]

    /// The index of the offset in ``position``, in bytes.
    static let offsetIndex = 8

    init() throws {
        let event = try Envelope(BenchmarkEvent(number: Payload.firstNumber), source: "bench/1")
        let message = try PublishedMessage(event)
        topic = Array(message.topic.utf8)
        position = [UInt8](repeating: 0, count: 32)
        header = Array(message.header)
        data = Array(message.data)
    }
}
