internal import CZeroMQ

/// The options of a socket that this project sets, each with the type that libzmq expects.
package struct SocketOption: Sendable {
    let name: Int32
    let value: Value

    enum Value {
        case int32(Int32)
        case int64(Int64)
        case bytes([UInt8])
    }

    /// How many messages may wait to be sent to one peer.
    package static func sendHighWaterMark(_ count: Int32) -> Self { Self(name: ZMQ_SNDHWM, value: .int32(count)) }
    /// How many messages from one peer may wait to be received.
    package static func receiveHighWaterMark(_ count: Int32) -> Self { Self(name: ZMQ_RCVHWM, value: .int32(count)) }
    /// Milliseconds that a call which waits for a message waits at most.
    package static func receiveTimeout(_ milliseconds: Int32) -> Self {
        Self(name: ZMQ_RCVTIMEO, value: .int32(milliseconds))
    }
    /// Milliseconds that a closed socket goes on sending; the default is for ever.
    package static func linger(_ milliseconds: Int32) -> Self { Self(name: ZMQ_LINGER, value: .int32(milliseconds)) }
    /// Bytes of one frame; the default is unlimited.
    package static func maximumFrameSize(_ bytes: Int64) -> Self { Self(name: ZMQ_MAXMSGSIZE, value: .int64(bytes)) }
    /// Do not queue for a peer that is not there.
    package static let immediate = Self(name: ZMQ_IMMEDIATE, value: .int32(1))
    /// Report an unreachable peer instead of dropping what is meant for it.
    package static let routerMandatory = Self(name: ZMQ_ROUTER_MANDATORY, value: .int32(1))
    /// Tell of every subscription, also of one that another peer has already.
    package static let xpubVerbose = Self(name: ZMQ_XPUB_VERBOSE, value: .int32(1))
    package static func subscribe(_ topic: String) -> Self {
        Self(name: ZMQ_SUBSCRIBE, value: .bytes(Array(topic.utf8)))
    }
    package static func unsubscribe(_ topic: String) -> Self {
        Self(name: ZMQ_UNSUBSCRIBE, value: .bytes(Array(topic.utf8)))
    }
    /// Milliseconds between attempts to connect, at first.
    package static func reconnectInterval(_ milliseconds: Int32) -> Self {
        Self(name: ZMQ_RECONNECT_IVL, value: .int32(milliseconds))
    }
    /// Milliseconds between attempts to connect, at most.
    package static func maximumReconnectInterval(_ milliseconds: Int32) -> Self {
        Self(name: ZMQ_RECONNECT_IVL_MAX, value: .int32(milliseconds))
    }
    /// Lets the kernel look for a TCP peer that says nothing: after 15 s, then every 5 s, three times. Other transports ignore it.
    ///
    /// libzmq's own heartbeats (`ZMQ_HEARTBEAT_IVL`) must stay off: a peer that leaves while its pipe is full, and the timer of
    /// the heartbeats, abort the process.
    package static let tcpKeepalive: [Self] = [
        Self(name: ZMQ_TCP_KEEPALIVE, value: .int32(1)), Self(name: ZMQ_TCP_KEEPALIVE_IDLE, value: .int32(15)),
        Self(name: ZMQ_TCP_KEEPALIVE_INTVL, value: .int32(5)), Self(name: ZMQ_TCP_KEEPALIVE_CNT, value: .int32(3)),
    ]
}
