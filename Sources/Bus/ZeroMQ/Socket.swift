internal import CZeroMQ
package import Glibc
internal import SystemSupport

/// One libzmq socket. Not `Sendable`: only the thread that created it may use it.
package final class Socket {
    fileprivate let pointer: UnsafeMutableRawPointer
    /// True if ``readiness`` must be read before the thread waits. The descriptor alone is not enough, because any call
    /// to the socket may consume the signal of a message that still waits.
    fileprivate var mayHaveNews = true
    /// The socket that receives the events of the connections. It must exist until this one reports nothing more:
    /// without it, libzmq's own thread would wait for ever with the next event, and with it all sockets of the process.
    private var eventReceiver: Socket?

    /// - Throws: ``ZeroMQError`` if the process has no more sockets or file descriptors, or libzmq refuses an option.
    package init(_ type: SocketType, in context: Context = .shared, options: [SocketOption] = []) throws {
        // A ROUTER numbers its peers from rand(), and aborts if a peer has taken the next number as its own id (libzmq
        // 4.3.4 and 4.3.5). Without a seed, the numbers of every process would be the same.
        if type == .router { srand(UInt32.random(in: .min ... .max)) }
        guard let context = context.pointer, let pointer = zmq_socket(context, type.rawValue) else {
            throw ZeroMQError.last("zmq_socket(\(type))")
        }
        self.pointer = pointer
        for option in options {
            try set(option)
        }
    }

    deinit {
        // A closed socket would still report its last events.
        if eventReceiver != nil { zmq_socket_monitor(pointer, nil, 0) }
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

    /// A file descriptor that signals changes, and only changes: it may be readable without a message, and not readable
    /// although a message waits.
    fileprivate var descriptor: Int32 { option(ZMQ_FD) }

    /// The flags `ZMQ_POLLIN` and `ZMQ_POLLOUT` that apply now.
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
    /// - Returns: False if the queue is full, or a socket that binds has no peer; then nothing was sent. A socket that
    ///   connects queues messages also while it has no connection.
    /// - Throws: ``ZeroMQError``, for example if the peer of a ROUTER has left.
    package func send(_ frames: [[UInt8]]) throws -> Bool {
        mayHaveNews = true
        for (index, frame) in frames.enumerated() {
            let flags = ZMQ_DONTWAIT | (index < frames.count - 1 ? ZMQ_SNDMORE : 0)
            while zmq_send(pointer, frame, frame.count, flags) < 0 {
                switch zmq_errno() {
                case EINTR: continue
                // Only the first frame can find a full queue: libzmq accepts a message as a whole.
                case EAGAIN where index == 0: return false
                default: throw ZeroMQError.last("send")
                }
            }
        }
        return true
    }

    /// Sends one frame without copying it into an array, and without waiting. For sockets that never refuse a message,
    /// such as XPUB.
    /// - Parameter more: True if the next frame belongs to the same message.
    package func send(_ frame: UnsafeRawBufferPointer, more: Bool) throws {
        mayHaveNews = true
        while zmq_send(pointer, frame.baseAddress, frame.count, ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0)) < 0 {
            guard zmq_errno() == EINTR else { throw ZeroMQError.last("send") }
        }
    }

    /// Closes the endpoint that the socket has bound, and its connections.
    package func unbind(_ endpoint: String) throws {
        guard zmq_unbind(pointer, endpoint) == 0 else { throw ZeroMQError.last("unbind \(endpoint)") }
    }

    /// Receives one message without waiting; nil if there is none.
    /// - Parameter frameLimit: The maximum number of frames to return; further frames are dropped.
    package func receive(frameLimit: Int = .max) throws -> [[UInt8]]? {
        try receive(frameLimit: frameLimit, reading: [])?.frames
    }

    /// A message with what libzmq knows of its sender.
    package struct Received {
        package let frames: [[UInt8]]
        /// The user that the ``Authenticator`` has recognised. Nil if this was not to be read.
        package fileprivate(set) var user: String?
        /// The descriptor of the connection. Nil if this was not to be read, and over `ipc://`.
        package fileprivate(set) var descriptor: Int32?
    }

    package struct SenderProperties: OptionSet, Sendable {
        package let rawValue: Int
        package static let user = Self(rawValue: 1)
        package static let descriptor = Self(rawValue: 2)

        package init(rawValue: Int) {
            self.rawValue = rawValue
        }
    }

    /// Receives one message without waiting; nil if there is none.
    /// - Parameters:
    ///   - frameLimit: The maximum number of frames to return; further frames are dropped.
    ///   - properties: The properties of the sender to read.
    package func receive(frameLimit: Int = .max, reading properties: SenderProperties) throws -> Received? {
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
            guard zmq_msg_more(&message) == 0 else { continue }
            // A ROUTER's first frame, the routing id, can lack the properties (libzmq 4.3.4), so the last one is asked.
            var received = Received(frames: frames)
            if properties.contains(.user) {
                received.user = zmq_msg_gets(&message, "User-Id").map { String(cString: $0) }
            }
            if properties.contains(.descriptor), case let descriptor = zmq_msg_get(&message, ZMQ_SRCFD), descriptor >= 0
            {
                received.descriptor = descriptor
            }
            return received
        }
    }

    /// Reports the events of the socket's connections to an `inproc` endpoint, to which `receiver` has connected.
    func reportEvents(_ events: Int32, to endpoint: String, receiver: Socket) throws {
        guard zmq_socket_monitor(pointer, endpoint, events) == 0 else { throw ZeroMQError.last("monitor") }
        eventReceiver = receiver
    }
}

/// Calls that may block, for a thread that does nothing else.
extension Socket {
    /// Receives one frame. If it is larger than the buffer, the rest is dropped.
    /// - Returns: The size of the frame. Nil if `waiting` is false and there is no message, or if the time set with
    ///   ``SocketOption/receiveTimeout(_:)`` has passed.
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

    /// Forwards messages from one socket to the other, and subscriptions back, until an error occurs.
    package static func proxy(_ frontend: Socket, _ backend: Socket) throws {
        while zmq_proxy(frontend.pointer, backend.pointer, nil) < 0 {
            guard zmq_errno() == EINTR else { throw ZeroMQError.last("proxy") }
        }
    }
}

/// The socket types that this project uses.
package enum SocketType: Sendable {
    case dealer, pair, pub, rep, router, sub, xpub, xsub

    var rawValue: Int32 {
        switch self {
        case .dealer: ZMQ_DEALER
        case .pair: ZMQ_PAIR
        case .rep: ZMQ_REP
        case .router: ZMQ_ROUTER
        case .pub: ZMQ_PUB
        case .sub: ZMQ_SUB
        case .xpub: ZMQ_XPUB
        case .xsub: ZMQ_XSUB
        }
    }
}

/// A registration of a socket with the thread that waits for its messages. Like the socket, it belongs to that thread.
package final class SocketWatch: ThreadWatch {
    /// True if `onWritable` is called when the socket can accept a message. Set it only while a message waits to be
    /// sent.
    package var wantsWrite = false
    private let socket: Socket
    private let descriptor: Int32
    private let onReadable: () -> Void
    private let onWritable: () -> Void

    /// - Parameters:
    ///   - onReadable: Called while the socket has messages. It may receive any number of them.
    ///   - onWritable: Called while ``wantsWrite`` is true and the socket can accept a message.
    package init(_ socket: Socket, onReadable: @escaping () -> Void, onWritable: @escaping () -> Void = {}) {
        self.socket = socket
        descriptor = socket.descriptor
        self.onReadable = onReadable
        self.onWritable = onWritable
    }

    package var pollItem: pollfd { pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0) }

    package func recordSignal() {
        socket.mayHaveNews = true
    }

    /// Calls the owner if the socket is ready.
    /// - Returns: True if the socket was ready.
    package func handle() -> Bool {
        guard socket.mayHaveNews || wantsWrite else { return false }
        socket.mayHaveNews = false
        let readiness = socket.readiness
        let (canRead, canWrite) = (readiness & ZMQ_POLLIN != 0, wantsWrite && readiness & ZMQ_POLLOUT != 0)
        if canRead { onReadable() }
        if canWrite { onWritable() }
        return canRead || canWrite
    }
}

/// Waits for messages on several sockets of one thread.
package final class SocketPoll {
    package let sockets: [Socket]
    private var items: [zmq_pollitem_t]

    package init(_ sockets: [Socket]) {
        self.sockets = sockets
        items = sockets.map { zmq_pollitem_t(socket: $0.pointer, fd: 0, events: Int16(ZMQ_POLLIN), revents: 0) }
    }

    /// Waits until a socket has a message.
    /// - Parameter milliseconds: The maximum time to wait; -1 for no limit.
    /// - Returns: False if the time has passed without a message.
    package func wait(milliseconds: Int) throws -> Bool {
        while true {
            let count = zmq_poll(&items, Int32(items.count), milliseconds)
            if count >= 0 { return count > 0 }
            guard zmq_errno() == EINTR else { throw ZeroMQError.last("poll") }
        }
    }

    /// True if the last wait found a message at the socket with this index.
    package func isReadable(_ index: Int) -> Bool {
        Int32(items[index].revents) & ZMQ_POLLIN != 0
    }
}

/// A libzmq context. There is one per process: two contexts can crash when one of them closes (libzmq #4242).
///
/// - Note: `@unchecked Sendable`: threads may share a libzmq context, and the pointer never changes.
package final class Context: @unchecked Sendable {
    /// The context of the process. It is never terminated.
    package static let shared = Context()

    fileprivate let pointer: UnsafeMutableRawPointer?

    private init() {
        pointer = zmq_ctx_new()
        if let pointer {
            zmq_ctx_set(pointer, ZMQ_MAX_SOCKETS, 4096)
        }
    }

    /// Sets the number of threads that libzmq uses for connections (1 without it). Each connection belongs to one of
    /// them. Has no effect after the first socket of the process.
    package func setThreadCount(_ count: Int) {
        if let pointer { zmq_ctx_set(pointer, ZMQ_IO_THREADS, Int32(clamping: count)) }
    }
}

/// The failure of a libzmq call.
package struct ZeroMQError: Error, Hashable, CustomStringConvertible {
    /// The error number of libzmq (`zmq_errno`).
    package let code: Int32
    /// The operation that failed, such as `bind tcp://127.0.0.1:7000`.
    package let operation: String

    static func last(_ operation: String) -> ZeroMQError {
        ZeroMQError(code: zmq_errno(), operation: operation)
    }

    package var isAddressInUse: Bool { code == EADDRINUSE }

    package var description: String {
        "\(operation): \(String(cString: zmq_strerror(code)))"
    }
}
