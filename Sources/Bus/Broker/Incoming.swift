internal import BusProtocol

/// What a peer sent to the ingress.
package struct Incoming {
    /// The routing id that libzmq put before it.
    let peer: [UInt8]
    let frames: ArraySlice<[UInt8]>

    package init(peer: [UInt8], frames: [[UInt8]]) {
        self.peer = peer
        self.frames = frames[...]
    }

    /// - Parameter message: as it came from a ROUTER, its peer first.
    init?(_ message: [[UInt8]]) {
        guard let peer = message.first else { return nil }
        self.peer = peer
        frames = message.dropFirst()
    }

    func head() throws(ProtocolError) -> RequestHead {
        guard let first = frames.first else { throw ProtocolError(.malformed, "the request is empty") }
        return try RequestHead(first)
    }

    var body: ArraySlice<[UInt8]> { frames.dropFirst() }
}
