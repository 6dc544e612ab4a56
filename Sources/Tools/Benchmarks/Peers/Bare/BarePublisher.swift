internal import ZeroMQ

/// Sends messages of the four frames that a bus's messages have, as fast as libzmq takes them.
struct BarePublisher {
    let directory: String

    func run(_ control: Control) throws {
        let socket = try BareSockets.publisher(directory)
        let frames = try MessageFrames()
        try control.send()
        while let order = try control.waitForOrder() {
            var report = Report(begin: MonotonicTime.now, count: order.count)
            switch order.action {
            case .prepare: try send(BareSubscriber.probe..<BareSubscriber.probe + 1, frames, socket)
            case .run: try send(1..<UInt64(order.count) + 1, frames, socket)
            }
            report.end = MonotonicTime.now
            try control.send(report)
        }
    }

    private func send(_ offsets: Range<UInt64>, _ frames: MessageFrames, _ socket: Socket) throws {
        var position = frames.position
        try frames.topic.withUnsafeBytes { topic in
            try frames.header.withUnsafeBytes { header in
                try frames.data.withUnsafeBytes { data in
                    try position.withUnsafeMutableBytes { position in
                        for offset in offsets {
                            position.storeBytes(of: offset, toByteOffset: MessageFrames.offsetIndex, as: UInt64.self)
                            try socket.send(topic, more: true)
                            try socket.send(UnsafeRawBufferPointer(position), more: true)
                            try socket.send(header, more: true)
                            try socket.send(data, more: false)
                        }
                    }
                }
            }
        }
    }
}
