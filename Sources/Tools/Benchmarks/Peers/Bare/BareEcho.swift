internal import ZeroMQ

/// The other end of the bare round trip: sends back what comes, on another topic.
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
                    try publisher.send(topic, more: true)
                    try publisher.send(UnsafeRawBufferPointer(rebasing: buffer[..<count]), more: false)
                }
            }
        }
    }
}
