internal import BusProtocol
internal import EventBus
internal import ZeroMQ

/// The two sockets of a broker. Like them, it belongs to one thread.
final class BrokerSockets {
    let ingress: Socket
    let feed: Socket

    /// Requests taken in one turn, and so journalled in one commit.
    private static let turnCount = 512

    /// - Throws: ``BusError`` with code `address`, naming the endpoint.
    init(_ address: BusAddress) throws {
        let common: [SocketOption] = [
            .linger(0), .heartbeatInterval(2000), .heartbeatTimeout(6000),
            .maximumFrameSize(Int64(Limits.maximumFrameSize)),
        ]
        // A client has few requests under way at once; what does not fit is dropped, and asked for again.
        ingress = try Socket(.router, options: common + [.routerMandatory, .sendHighWaterMark(1024)])
        // What a slow subscriber costs the broker at most; beyond it the subscriber reads from the journal.
        feed = try Socket(.xpub, options: common + [.xpubVerbose, .sendHighWaterMark(4096)])
        do {
            try ingress.bind(address.ingress)
            try feed.bind(address.feed)
        } catch let error as ZeroMQError {
            let hint = error.isAddressInUse ? "; another program has it: choose another address" : ""
            throw BusError(.address, "the broker cannot listen: \(error)\(hint)")
        }
    }

    func receiveRequests() throws -> [Incoming] {
        var requests: [Incoming] = []
        while requests.count < Self.turnCount, let frames = try ingress.receive() {
            guard let peer = frames.first else { continue }
            requests.append(Incoming(peer: peer, frames: Array(frames.dropFirst())))
        }
        return requests
    }

    /// The inboxes that were subscribed to. XPUB hands over one frame a subscription: 1 and the topic.
    func receiveInboxes() throws -> [[UInt8]] {
        var inboxes: [[UInt8]] = []
        while let frames = try feed.receive() {
            guard let frame = frames.first, frames.count == 1, frame.first == 1 else { continue }
            let topic = Array(frame.dropFirst())
            if topic.starts(with: Inbox.mark.utf8), topic.count <= Inbox.maximumLength {
                inboxes.append(topic)
            }
        }
        return inboxes
    }

    /// XPUB drops for a peer whose queue is full and never refuses.
    func publish(_ frames: [[UInt8]]) throws {
        _ = try feed.send(frames)
    }

    /// A peer that has gone or does not read its replies asks again when it is back.
    func reply(_ frames: [[UInt8]], to peer: [UInt8]) {
        _ = try? ingress.send([peer] + frames)
    }
}
