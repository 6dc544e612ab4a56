internal import BusProtocol
internal import EventBus

/// The frames of a real message, for those who move or store them without a bus.
struct MessageFrames: Sendable {
    let topic: [UInt8]
    /// Epoch, offset, and the offsets before it on its topic and in its partition.
    let position: [UInt8]
    let header: [UInt8]
    let data: [UInt8]

    /// Where in ``position`` the offset is.
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
