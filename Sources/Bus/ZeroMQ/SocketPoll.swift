internal import CZeroMQ
internal import Glibc

/// Waits for any of several sockets of one thread.
package final class SocketPoll {
    package let sockets: [Socket]
    private var items: [zmq_pollitem_t]

    package init(_ sockets: [Socket]) {
        self.sockets = sockets
        items = sockets.map { zmq_pollitem_t(socket: $0.pointer, fd: 0, events: Int16(ZMQ_POLLIN), revents: 0) }
    }

    /// - Parameter milliseconds: how long to wait at most; -1 for ever.
    /// - Returns: false when nothing has come in that time.
    package func wait(milliseconds: Int) throws -> Bool {
        while true {
            let count = zmq_poll(&items, Int32(items.count), milliseconds)
            if count >= 0 { return count > 0 }
            guard zmq_errno() == EINTR else { throw ZeroMQError.last("poll") }
        }
    }

    /// Whether the last wait found a message at the socket of this index.
    package func isReadable(_ index: Int) -> Bool {
        Int32(items[index].revents) & ZMQ_POLLIN != 0
    }
}
