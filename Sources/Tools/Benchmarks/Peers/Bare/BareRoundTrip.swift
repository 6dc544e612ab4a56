internal import EventBus
internal import Foundation
internal import Support
internal import ZeroMQ

/// The client of the bare round trip. It sends the same typed messages as the client on the bus, as JSON, without a bus
/// or a journal.
struct BareClient {
    let directory: String

    func run(_ control: Control) throws {
        let publisher = try BareSockets.publisher(directory)
        let subscriber = try BareSockets.subscriber(directory, topic: BareEcho.answers)
        // A SUB socket receives nothing before its subscription has reached the proxy, so requests are repeated until
        // an answer arrives.
        try subscriber.set(.receiveTimeout(20))
        var number = 0
        repeat {
            number += 1
        } while try !exchange(number, publisher: publisher, subscriber: subscriber)
        try subscriber.set(.receiveTimeout(-1))
        try control.send()
        while let order = try control.waitForOrder() {
            var latencies: [Int64] = []
            latencies.reserveCapacity(order.count)
            for _ in 0..<order.count {
                number += 1
                let begin = MonotonicTime.now
                guard try exchange(number, publisher: publisher, subscriber: subscriber) else {
                    throw BenchmarkError("no answer to a request arrived")
                }
                latencies.append(MonotonicTime.now - begin)
            }
            try control.send(Report(latencies: latencies))
        }
    }

    /// Sends a request, and waits for its answer.
    /// - Returns: False if no answer has arrived before the socket's timeout.
    private func exchange(_ number: Int, publisher: Socket, subscriber: Socket) throws -> Bool {
        let number = Payload.firstNumber + number
        let data = try JSONWriter.data(of: BenchmarkRequest(number: number))
        try Self.topic.withUnsafeBytes { try publisher.send($0, more: true) }
        try data.withUnsafeBytes { try publisher.send($0, more: false) }
        return try withUnsafeTemporaryAllocation(byteCount: BareSockets.frameSize, alignment: 8) { buffer in
            // Skips late answers to the requests that were repeated at the beginning.
            while true {
                guard try subscriber.receive(into: buffer) != nil, let count = try subscriber.receive(into: buffer)
                else { return false }
                let answer = Data(buffer[..<count])
                if try JSONReader.decode(BenchmarkEvent.self, from: answer).number == number { return true }
            }
        }
    }

    private static let topic = Array(BareEcho.requests.utf8)
}

/// The handler of the bare round trip. It answers each typed request with a typed event.
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
                    let request = try JSONReader.decode(BenchmarkRequest.self, from: buffer[..<count])
                    let answer = try JSONWriter.data(of: BenchmarkEvent(number: request.number))
                    try publisher.send(topic, more: true)
                    try answer.withUnsafeBytes { try publisher.send($0, more: false) }
                }
            }
        }
    }
}
