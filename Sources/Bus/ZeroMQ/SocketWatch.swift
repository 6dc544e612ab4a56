internal import CZeroMQ
internal import Glibc

/// What a thread waits for at one socket. Like the socket, it belongs to that thread.
package final class SocketWatch {
    /// Whether to tell when the socket can take a message again; on only while something waits to be sent.
    package var wantsWrite = false
    private let socket: Socket
    private let descriptor: Int32
    private let onReadable: () -> Void
    private let onWritable: () -> Void

    /// - Parameters:
    ///   - onReadable: takes as many messages as it likes; it is called again while there are more.
    ///   - onWritable: called while ``wantsWrite`` is on and a peer can take a message.
    package init(_ socket: Socket, onReadable: @escaping () -> Void, onWritable: @escaping () -> Void = {}) {
        self.socket = socket
        descriptor = socket.descriptor
        self.onReadable = onReadable
        self.onWritable = onWritable
    }

    var pollItem: pollfd { pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0) }

    func noteNews() {
        socket.mayHaveNews = true
    }

    /// Tells the owner if the socket is ready.
    /// - Returns: whether it was.
    func handle() -> Bool {
        guard socket.mayHaveNews || wantsWrite else { return false }
        socket.mayHaveNews = false
        let readiness = socket.readiness
        let (canRead, canWrite) = (readiness & ZMQ_POLLIN != 0, wantsWrite && readiness & ZMQ_POLLOUT != 0)
        if canRead { onReadable() }
        if canWrite { onWritable() }
        return canRead || canWrite
    }
}
