internal import BusProtocol

/// What a peer sent to the ingress.
struct Incoming {
    /// The routing id that libzmq put before it.
    let peer: [UInt8]
    let frames: [[UInt8]]

    func request() throws(ProtocolError) -> (RequestHead, Request) {
        guard let first = frames.first else { throw ProtocolError(.malformed, "the request is empty") }
        let head = try RequestHead(first)
        return (head, try Request(head.operation, body: frames.dropFirst()))
    }
}
