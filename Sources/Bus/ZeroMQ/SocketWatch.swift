internal import CZeroMQ

/// What a thread waits for at one socket. Like the socket, it belongs to that thread.
package final class SocketWatch {
    /// Whether to tell when the socket can take a message again; on only while something waits to be sent.
    package var wantsWrite = false
    private let socket: Socket
    private let onReadable: () -> Void
    private let onWritable: () -> Void

    /// - Parameters:
    ///   - onReadable: takes as many messages as it likes; it is called again while there are more.
    ///   - onWritable: called while ``wantsWrite`` is on and a peer can take a message.
    package init(_ socket: Socket, onReadable: @escaping () -> Void, onWritable: @escaping () -> Void = {}) {
        self.socket = socket
        self.onReadable = onReadable
        self.onWritable = onWritable
    }

    var pollItem: zmq_pollitem_t {
        let events = wantsWrite ? ZMQ_POLLIN | ZMQ_POLLOUT : ZMQ_POLLIN
        return zmq_pollitem_t(socket: socket.pointer, fd: 0, events: Int16(events), revents: 0)
    }

    func handle(_ events: Int16) {
        if Int32(events) & ZMQ_POLLIN != 0 { onReadable() }
        if Int32(events) & ZMQ_POLLOUT != 0 { onWritable() }
    }
}
