internal import ZeroMQ

/// Counts what comes on several SUB sockets, in one thread.
struct BareSubscriber {
    /// The offset of a message that only tells whether the way is open.
    static let probe = UInt64(1) << 62

    let directory: String
    let connections: Int

    func run(_ control: Control) throws {
        let topic = String(decoding: try MessageFrames().topic, as: UTF8.self)
        let poll = SocketPoll(try (0..<connections).map { _ in try BareSockets.subscriber(directory, topic: topic) })
        try control.send()
        while let order = try control.waitForOrder() {
            switch order.action {
            case .prepare:
                try waitForProbe(poll)
                try control.send()
            case .run: try control.send(try count(order, poll))
            }
        }
    }

    private func waitForProbe(_ poll: SocketPoll) throws {
        var open = Set<Int>()
        while open.count < poll.sockets.count {
            _ = try poll.wait(milliseconds: -1)
            for (index, socket) in poll.sockets.enumerated() where poll.isReadable(index) {
                try receive(socket) { _ in open.insert(index) }
            }
        }
    }

    /// Until every socket has the last message, or nothing comes any more.
    private func count(_ order: Order, _ poll: SocketPoll) throws -> Report {
        var report = Report()
        var open = poll.sockets.count
        while open > 0, try poll.wait(milliseconds: report.count == 0 ? -1 : order.patience) {
            for (index, socket) in poll.sockets.enumerated() where poll.isReadable(index) {
                try receive(socket) { offset in
                    guard offset < Self.probe else { return }
                    if report.count == 0 { report.begin = MonotonicTime.now }
                    report.count += 1
                    // Reading the clock takes its time too: now and then is enough, as long as it is done at the end.
                    if report.count & 15 == 0 || offset == order.count { report.end = MonotonicTime.now }
                    if offset == order.count { open -= 1 }
                }
            }
        }
        return report
    }

    /// Takes what is there.
    /// - Parameter body: gets each message's offset.
    private func receive(_ socket: Socket, _ body: (UInt64) -> Void) throws {
        try withUnsafeTemporaryAllocation(byteCount: BareSockets.frameSize, alignment: 8) { buffer in
            while try socket.receive(into: buffer, waiting: false) != nil {
                _ = try socket.receive(into: buffer)
                let offset = buffer.load(fromByteOffset: MessageFrames.offsetIndex, as: UInt64.self)
                _ = try socket.receive(into: buffer)
                _ = try socket.receive(into: buffer)
                body(offset)
            }
        }
    }
}
