internal import ZeroMQ

/// Sends messages as fast as libzmq accepts them. A message has four frames: topic, position, header and data.
struct BarePublisher {
    let directory: String

    func run(_ control: Control) throws {
        let socket = try BareSockets.publisher(directory)
        let frames = try MessageFrames()
        try control.send()
        while let order = try control.waitForOrder() {
            var report = Report(begin: MonotonicTime.now, count: order.count)
            switch order.action {
            case .prepare: try send(BareSubscriber.probe..<BareSubscriber.probe + 1, frames: frames, through: socket)
            case .run: try send(1..<UInt64(order.count) + 1, frames: frames, through: socket)
            }
            report.end = MonotonicTime.now
            try control.send(report)
        }
    }

    private func send(_ offsets: Range<UInt64>, frames: MessageFrames, through socket: Socket) throws {
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

/// Counts the messages that arrive at several SUB sockets, in one thread.
struct BareSubscriber {
    /// The offset of a probe. A probe is a message that only shows that the connection works.
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

    /// Counts messages until every socket has received the last message, or, after the first message, no message
    /// arrives for `order.patience` milliseconds.
    private func count(_ order: PeerOrder, _ poll: SocketPoll) throws -> Report {
        var report = Report()
        var open = poll.sockets.count
        while open > 0, try poll.wait(milliseconds: report.count == 0 ? -1 : order.patience) {
            for (index, socket) in poll.sockets.enumerated() where poll.isReadable(index) {
                try receive(socket) { offset in
                    guard offset < Self.probe else { return }
                    if report.count == 0 { report.begin = MonotonicTime.now }
                    report.count += 1
                    // Reading the clock takes time, so the clock is read at every 16th message and at the last message
                    // of each socket.
                    if report.count & 15 == 0 || offset == order.count { report.end = MonotonicTime.now }
                    if offset == order.count { open -= 1 }
                }
            }
        }
        return report
    }

    /// Receives the messages that have arrived, without waiting.
    /// - Parameter body: Called with the offset of each message.
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

/// Runs libzmq's own proxy in place of the broker.
struct BareProxy {
    let directory: String

    func run(_ control: Control) throws {
        let frontend = try Socket(.xsub, options: BareSockets.options)
        let backend = try Socket(.xpub, options: BareSockets.options)
        try frontend.bind(BareSockets.publishing(directory))
        try backend.bind(BareSockets.subscribing(directory))
        try control.send()
        try Socket.proxy(frontend, backend)
    }
}

/// The sockets of programs that use only libzmq, connected by a proxy with XSUB and XPUB.
enum BareSockets {
    /// The queues have no limits.
    static let options: [SocketOption] = [.linger(0), .sendHighWaterMark(0), .receiveHighWaterMark(0)]
    /// The size in bytes of the buffer for a frame. All frames of the benchmarks are shorter.
    static let frameSize = 4096

    static func publisher(_ directory: String) throws -> Socket {
        let socket = try Socket(.pub, options: options)
        try socket.connect(publishing(directory))
        return socket
    }

    static func subscriber(_ directory: String, topic: String) throws -> Socket {
        let socket = try Socket(.sub, options: options + [.subscribe(topic)])
        try socket.connect(subscribing(directory))
        return socket
    }

    static func publishing(_ directory: String) -> String { "ipc://\(directory)/in" }
    static func subscribing(_ directory: String) -> String { "ipc://\(directory)/out" }
}
