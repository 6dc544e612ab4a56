internal import ZeroMQ

/// The client of the bare round trip.
struct BareClient {
    let directory: String

    func run(_ control: Control) throws {
        let publisher = try BareSockets.publisher(directory)
        let subscriber = try BareSockets.subscriber(directory, topic: BareEcho.answers)
        // A SUB gets nothing until its subscription has travelled: asks until there is an answer.
        try subscriber.set(.receiveTimeout(20))
        var number = 0
        repeat {
            number += 1
        } while try !exchange(number, publisher, subscriber)
        try subscriber.set(.receiveTimeout(-1))
        try control.send()
        while let order = try control.waitForOrder() {
            var latencies: [Int64] = []
            latencies.reserveCapacity(order.count)
            for _ in 0..<order.count {
                number += 1
                let begin = MonotonicTime.now
                _ = try exchange(number, publisher, subscriber)
                latencies.append(MonotonicTime.now - begin)
            }
            try control.send(Report(latencies: latencies))
        }
    }

    /// - Returns: false when no answer has come in time.
    private func exchange(_ number: Int, _ publisher: Socket, _ subscriber: Socket) throws -> Bool {
        try withUnsafeTemporaryAllocation(byteCount: BareSockets.frameSize, alignment: 8) { buffer in
            let data = UnsafeRawBufferPointer(rebasing: buffer[..<Payload.size])
            buffer.storeBytes(of: number, as: Int.self)
            try Self.topic.withUnsafeBytes { try publisher.send($0, more: true) }
            try publisher.send(data, more: false)
            // Answers to what was asked before the first one came are passed over.
            repeat {
                guard try subscriber.receive(into: buffer) != nil, try subscriber.receive(into: buffer) != nil else {
                    return false
                }
            } while buffer.load(as: Int.self) != number
            return true
        }
    }

    private static let topic = Array(BareEcho.requests.utf8)
}
