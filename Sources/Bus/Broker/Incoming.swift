internal import BusProtocol

/// What a peer sent to the ingress.
struct Incoming {
    /// The routing id that libzmq put before it.
    let peer: [UInt8]
    let frames: [[UInt8]]

    func head() throws(ProtocolError) -> RequestHead {
        guard let first = frames.first else { throw ProtocolError(.malformed, "the request is empty") }
        return try RequestHead(first)
    }

    var body: ArraySlice<[UInt8]> { frames.dropFirst() }
}
