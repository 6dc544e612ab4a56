internal import EventBus
internal import Foundation
internal import ZeroMQ

/// The other end of the bare round trip: reads a typed message, and answers with another.
struct BareEcho {
    static let requests = "command.BenchmarkRequest.3e"
    static let answers = "event.BenchmarkEvent.3e"

    let directory: String

    func run(_ control: Control) throws {
        let publisher = try BareSockets.publisher(directory)
        let subscriber = try BareSockets.subscriber(directory, topic: Self.requests)
        try control.send()
        let topic = Array(Self.answers.utf8)
        var buffer = [UInt8](repeating: 0, count: BareSockets.frameSize)
        try topic.withUnsafeBytes { topic in
            try buffer.withUnsafeMutableBytes { buffer in
                while true {
                    _ = try subscriber.receive(into: buffer)
                    guard let count = try subscriber.receive(into: buffer) else { return }
                    let request = try JSONDecoder().decode(BenchmarkRequest.self, from: Data(buffer[..<count]))
                    let answer = try JSONEncoder.wire.encode(BenchmarkEvent(number: request.number))
                    try publisher.send(topic, more: true)
                    try answer.withUnsafeBytes { try publisher.send($0, more: false) }
                }
            }
        }
    }
}
