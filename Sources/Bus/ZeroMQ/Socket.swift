internal import CZeroMQ
internal import Glibc

/// One libzmq socket. Not `Sendable`: it belongs to the thread that made it.
package final class Socket {
    let pointer: UnsafeMutableRawPointer
    /// Whether ``readiness`` may tell something new. libzmq signals on the socket's descriptor only what comes to an idle
    /// socket: any call may have taken the signal for the next message with it. A receive that finds nothing has taken all.
    var mayHaveNews = true

    /// - Throws: ``ZeroMQError`` when the process has no more sockets or file descriptors, or refuses an option.
    package init(_ type: SocketType, in context: Context = .shared, options: [SocketOption] = []) throws {
        guard let context = context.pointer, let pointer = zmq_socket(context, type.rawValue) else {
            throw ZeroMQError.last("zmq_socket(\(type))")
        }
        self.pointer = pointer
        for option in options {
            try set(option)
        }
    }

    deinit {
        zmq_close(pointer)
    }

    package func set(_ option: SocketOption) throws {
        let status =
            switch option.value {
            case .int32(var value): zmq_setsockopt(pointer, option.name, &value, MemoryLayout<Int32>.size)
            case .int64(var value): zmq_setsockopt(pointer, option.name, &value, MemoryLayout<Int64>.size)
            case .bytes(let bytes): zmq_setsockopt(pointer, option.name, bytes, bytes.count)
            }
        guard status == 0 else { throw ZeroMQError.last("zmq_setsockopt(\(option.name))") }
    }

    /// Tells of news, and only of news: it may be readable without a message and silent with one waiting.
    var descriptor: Int32 { option(ZMQ_FD) }

    /// `ZMQ_POLLIN` and `ZMQ_POLLOUT`, as far as they are true now.
    var readiness: Int32 { option(ZMQ_EVENTS) }

    private func option(_ name: Int32) -> Int32 {
        var value: Int32 = 0
        var size = MemoryLayout<Int32>.size
        zmq_getsockopt(pointer, name, &value, &size)
        return value
    }

    package func bind(_ endpoint: String) throws {
        guard zmq_bind(pointer, endpoint) == 0 else { throw ZeroMQError.last("bind \(endpoint)") }
    }

    package func connect(_ endpoint: String) throws {
        guard zmq_connect(pointer, endpoint) == 0 else { throw ZeroMQError.last("connect \(endpoint)") }
    }

    /// Sends a message of several frames without waiting.
    /// - Returns: false when there is no peer or its queue is full; then nothing was sent.
    /// - Throws: ``ZeroMQError``, among others when a ROUTER's peer has gone.
    package func send(_ frames: [[UInt8]]) throws -> Bool {
        mayHaveNews = true
        for (index, frame) in frames.enumerated() {
            let flags = ZMQ_DONTWAIT | (index < frames.count - 1 ? ZMQ_SNDMORE : 0)
            while zmq_send(pointer, frame, frame.count, flags) < 0 {
                switch zmq_errno() {
                case EINTR: continue
                // Only the first frame can find a full queue: libzmq admits a message as a whole.
                case EAGAIN where index == 0: return false
                default: throw ZeroMQError.last("send")
                }
            }
        }
        return true
    }

    /// Sends one frame from where it lies, without waiting. For sockets that never refuse, such as XPUB.
    /// - Parameter more: whether the next frame belongs to the same message.
    package func send(_ frame: UnsafeRawBufferPointer, more: Bool) throws {
        mayHaveNews = true
        while zmq_send(pointer, frame.baseAddress, frame.count, ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0)) < 0 {
            guard zmq_errno() == EINTR else { throw ZeroMQError.last("send") }
        }
    }

    /// Receives one message without waiting; nil when none is there.
    /// - Parameter frameLimit: frames beyond it are dropped.
    package func receive(frameLimit: Int = .max) throws -> [[UInt8]]? {
        mayHaveNews = true
        var frames: [[UInt8]] = []
        var message = zmq_msg_t()
        zmq_msg_init(&message)
        defer { zmq_msg_close(&message) }
        while true {
            guard zmq_msg_recv(&message, pointer, ZMQ_DONTWAIT) >= 0 else {
                switch zmq_errno() {
                case EINTR: continue
                case EAGAIN:
                    mayHaveNews = false
                    return nil
                default: throw ZeroMQError.last("receive")
                }
            }
            if frames.count < frameLimit {
                let start = zmq_msg_data(&message)
                frames.append(Array(UnsafeRawBufferPointer(start: start, count: zmq_msg_size(&message))))
            }
            if zmq_msg_more(&message) == 0 { return frames }
        }
    }
}
