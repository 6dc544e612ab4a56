internal import BusProtocol

/// What a peer sent to the ingress.
package struct Incoming {
    /// The routing id that libzmq put before it.
    package let peer: [UInt8]
    package let frames: [[UInt8]]

    package init(peer: [UInt8], frames: [[UInt8]]) {
        self.peer = peer
        self.frames = frames
    }

    func head() throws(ProtocolError) -> RequestHead {
        guard let first = frames.first else { throw ProtocolError(.malformed, "the request is empty") }
        return try RequestHead(first)
    }

    var body: ArraySlice<[UInt8]> { frames.dropFirst() }
}
