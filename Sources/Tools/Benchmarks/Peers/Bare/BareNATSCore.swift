/// Sends each message as one message of NATS, without JetStream. Its subject is the topic of the bus; its body is the
/// header and the data.
struct NATSCorePublisher {
    let address: String

    func run(_ control: Control) throws {
        let peer = try BareJetStream(address, sendsAtOnce: false)
        let frames = try MessageFrames()
        let topic = String(decoding: frames.topic, as: UTF8.self)
        try control.send()
        while let order = try control.waitForOrder() {
            var body = frames.header + frames.data
            var report = Report(begin: MonotonicTime.now, count: order.count)
            if order.action == .run { try peer.send(order.count, from: &body, on: topic) }
            report.end = MonotonicTime.now
            try control.send(report)
        }
    }
}

/// Counts the messages of a ``NATSCorePublisher``.
struct NATSCoreSubscriber {
    let address: String

    func run(_ control: Control) throws {
        let peer = try BareJetStream(address)
        let frames = try MessageFrames()
        let topic = String(decoding: frames.topic, as: UTF8.self)
        try control.send()
        while try control.waitForOrder() != nil {
            try peer.read(topic) { messages in
                try control.send()
                guard let order = try control.waitForOrder() else { return }
                try control.send(
                    try messages.countPlain(
                        order.count, headerCount: frames.header.count, patience: order.patience))
            }
        }
    }
}
