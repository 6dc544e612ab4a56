internal import ZeroMQ

/// Which peers of the ingress read what is sent to them, as far as the kernel shows it: what others have not read would
/// fill the broker's memory. Over IPC, libzmq does not know the connection of a peer, so all of these count as readers.
struct PeerReaders {
    /// The number of bytes that a peer has not read at which larger messages than ``smallSize`` are dropped.
    private static let (unreadSize, smallSize) = (1 << 20, 1024)
    /// The number of bytes for one peer in a turn beyond which only the first message is sent: the kernel does not know
    /// yet what libzmq has not passed to it.
    private static let turnSize = 4 << 20
    /// The number of peers that are known. Beyond it all are forgotten; each request makes its peer known again.
    private static let capacity = 100_000

    /// The descriptors of the TCP connections, by peer.
    private var descriptors: [[UInt8]: Int32] = [:]
    /// The number of bytes for each peer in this turn.
    private var sizes: [[UInt8]: Int] = [:]

    mutating func record(_ peer: [UInt8], descriptor: Int32) {
        if descriptors.count >= Self.capacity { descriptors = [:] }
        descriptors[peer] = descriptor
    }

    func isReading(_ peer: [UInt8]) -> Bool {
        guard let descriptor = descriptors[peer] else { return true }
        return AcceptedConnection.unreadSize(of: descriptor) <= Self.unreadSize
    }

    /// Called before the messages of each turn.
    mutating func beginTurn() { if !sizes.isEmpty { sizes = [:] } }

    /// - Returns: False if a message must be dropped.
    mutating func admits(_ frames: [[UInt8]], to peer: [UInt8]) -> Bool {
        let size = frames.reduce(0) { $0 + $1.count }
        guard size > Self.smallSize, descriptors[peer] != nil else { return true }
        let before = sizes[peer, default: 0]
        guard isReading(peer), before == 0 || before + size <= Self.turnSize else { return false }
        sizes[peer] = before + size
        return true
    }
}
