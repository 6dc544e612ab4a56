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
    private func count(_ order: PeerOrder, _ poll: SocketPoll) throws -> Report {
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

/// libzmq's own proxy, in place of the broker.
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

/// The sockets of a program that uses libzmq and nothing else, around a proxy with XSUB and XPUB.
enum BareSockets {
    /// Unlimited queues: what drops at the default limits moves no faster.
    static let options: [SocketOption] = [.linger(0), .sendHighWaterMark(0), .receiveHighWaterMark(0)]
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
