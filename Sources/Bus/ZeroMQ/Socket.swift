internal import CZeroMQ
internal import Glibc

/// One libzmq socket. Not `Sendable`: it belongs to the thread that made it.
package final class Socket {
    fileprivate let pointer: UnsafeMutableRawPointer
    /// Whether ``readiness`` may tell something new. libzmq signals on the socket's descriptor only what comes to an idle
    /// socket: any call may have taken the signal for the next message with it. A receive that finds nothing has taken all.
    fileprivate var mayHaveNews = true

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
    fileprivate var descriptor: Int32 { option(ZMQ_FD) }

    /// `ZMQ_POLLIN` and `ZMQ_POLLOUT`, as far as they are true now.
    fileprivate var readiness: Int32 { option(ZMQ_EVENTS) }

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

/// The kinds of socket that this project uses.
package enum SocketType: Sendable {
    case dealer, router, pub, sub, xpub, xsub

    var rawValue: Int32 {
        switch self {
        case .dealer: ZMQ_DEALER
        case .router: ZMQ_ROUTER
        case .pub: ZMQ_PUB
        case .sub: ZMQ_SUB
        case .xpub: ZMQ_XPUB
        case .xsub: ZMQ_XSUB
        }
    }
}

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

/// A libzmq context. One a process: two contexts can crash when one of them closes (libzmq #4242).
///
/// - Note: `@unchecked Sendable`: a context is the one libzmq object that threads may share; the pointer never changes.
package final class Context: @unchecked Sendable {
    /// The process's context. It is never terminated: `zmq_ctx_term` would block until all sockets have lingered, and the
    /// end of the process frees it.
    package static let shared = Context()

    fileprivate let pointer: UnsafeMutableRawPointer?

    private init() {
        pointer = zmq_ctx_new()
        if let pointer {
            zmq_ctx_set(pointer, ZMQ_MAX_SOCKETS, 4096)
        }
    }
}

/// A call of libzmq that failed.
package struct ZeroMQError: Error, Hashable, CustomStringConvertible {
    /// The `errno` that libzmq left.
    package let code: Int32
    /// The function that failed, with what it was given.
    package let operation: String

    static func last(_ operation: String) -> ZeroMQError {
        ZeroMQError(code: zmq_errno(), operation: operation)
    }

    package var isAddressInUse: Bool { code == EADDRINUSE }

    package var description: String {
        "\(operation): \(String(cString: zmq_strerror(code)))"
    }
}
