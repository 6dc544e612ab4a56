internal import CZeroMQ
internal import Glibc

/// Frames without arrays, and calls that wait: for a thread that does nothing else, at the speed of C.
extension Socket {
    /// Receives one frame; what does not fit into the buffer is cut off.
    /// - Returns: the size of the frame; nil when `waiting` is false and none is there, or when the time set with
    ///   ``SocketOption/receiveTimeout(_:)`` is over.
    package func receive(into buffer: UnsafeMutableRawBufferPointer, waiting: Bool = true) throws -> Int? {
        while true {
            let count = zmq_recv(pointer, buffer.baseAddress, buffer.count, waiting ? 0 : ZMQ_DONTWAIT)
            if count >= 0 { return Int(count) }
            switch zmq_errno() {
            case EINTR: continue
            case EAGAIN: return nil
            default: throw ZeroMQError.last("receive")
            }
        }
    }

    /// Hands messages on from one socket to another, and subscriptions back, until the context ends: for ever.
    package static func proxy(_ frontend: Socket, _ backend: Socket) throws {
        while zmq_proxy(frontend.pointer, backend.pointer, nil) < 0 {
            guard zmq_errno() == EINTR else { throw ZeroMQError.last("proxy") }
        }
    }
}
