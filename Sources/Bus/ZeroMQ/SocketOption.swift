internal import CZeroMQ

/// An option of a socket, with the value type that libzmq expects.
///
/// `ZMQ_IMMEDIATE` is left out: it makes libzmq drop a pipe when its connection ends, also between two frames of a
/// message that is being received, and abort the process (`Assertion failed: !_more`).
package struct SocketOption: Sendable {
    let name: Int32
    let value: Value

    enum Value {
        case int32(Int32)
        case int64(Int64)
        case bytes([UInt8])
    }

    /// The maximum number of messages that wait to be sent to one peer; 0 for no limit.
    package static func sendHighWaterMark(_ count: Int32) -> Self { Self(name: ZMQ_SNDHWM, value: .int32(count)) }
    /// The maximum number of messages from one peer that wait to be received; 0 for no limit.
    package static func receiveHighWaterMark(_ count: Int32) -> Self { Self(name: ZMQ_RCVHWM, value: .int32(count)) }
    /// The maximum time that a receiving call blocks, in milliseconds.
    package static func receiveTimeout(_ milliseconds: Int32) -> Self {
        Self(name: ZMQ_RCVTIMEO, value: .int32(milliseconds))
    }
    /// The maximum time for which a closed socket continues to send, in milliseconds. No limit by default.
    package static func linger(_ milliseconds: Int32) -> Self { Self(name: ZMQ_LINGER, value: .int32(milliseconds)) }
    /// The maximum size of a frame in bytes. No limit by default.
    package static func maximumFrameSize(_ bytes: Int64) -> Self { Self(name: ZMQ_MAXMSGSIZE, value: .int64(bytes)) }
    /// Reports an unreachable peer instead of dropping the messages for it.
    package static let routerMandatory = Self(name: ZMQ_ROUTER_MANDATORY, value: .int32(1))
    /// Reports every subscription, even if another peer already has the same one.
    package static let xpubVerbose = Self(name: ZMQ_XPUB_VERBOSE, value: .int32(1))
    package static func subscribe(_ topic: String) -> Self {
        Self(name: ZMQ_SUBSCRIBE, value: .bytes(Array(topic.utf8)))
    }
    package static func unsubscribe(_ topic: String) -> Self {
        Self(name: ZMQ_UNSUBSCRIBE, value: .bytes(Array(topic.utf8)))
    }
    /// The initial time between attempts to connect, in milliseconds.
    package static func reconnectInterval(_ milliseconds: Int32) -> Self {
        Self(name: ZMQ_RECONNECT_IVL, value: .int32(milliseconds))
    }
    /// The maximum time between attempts to connect, in milliseconds.
    package static func maximumReconnectInterval(_ milliseconds: Int32) -> Self {
        Self(name: ZMQ_RECONNECT_IVL_MAX, value: .int32(milliseconds))
    }
    /// The time in which a peer must end the handshake of a new connection, in milliseconds. 30 s by default.
    package static func handshakeInterval(_ milliseconds: Int32) -> Self {
        Self(name: ZMQ_HANDSHAKE_IVL, value: .int32(milliseconds))
    }

    /// The time after which a TCP connection ends if its peer acknowledges nothing of what was sent, or takes nothing of
    /// what waits, in milliseconds (`TCP_USER_TIMEOUT`).
    package static func maximumRetransmission(_ milliseconds: Int32) -> Self {
        Self(name: ZMQ_TCP_MAXRT, value: .int32(milliseconds))
    }

    /// Encrypts all connections of a socket that binds, and asks the ``Authenticator`` about each.
    /// - Parameters:
    ///   - secretKey: 32 bytes.
    ///   - domain: The name under which the decision is registered. Not empty.
    package static func curveServer(secretKey: [UInt8], domain: String) -> [Self] {
        [
            Self(name: ZMQ_CURVE_SERVER, value: .int32(1)), Self(name: ZMQ_CURVE_SECRETKEY, value: .bytes(secretKey)),
            Self(name: ZMQ_ZAP_DOMAIN, value: .bytes(Array(domain.utf8))),
            // Without this option, libzmq accepts every key while there is no handler. zmq.h has the name only for
            // programs that use drafts; libzmq refuses the option if it does not know it.
            Self(name: zapEnforceDomain, value: .int32(1)),
        ]
    }

    /// `ZMQ_ZAP_ENFORCE_DOMAIN` (zmq_setsockopt(3)).
    private static let zapEnforceDomain: Int32 = 93

    /// Encrypts all connections of a socket that connects.
    /// - Parameters:
    ///   - publicKey: 32 bytes, like the other keys.
    ///   - serverKey: The public key of the socket that binds. Another server cannot complete the handshake.
    package static func curveClient(publicKey: [UInt8], secretKey: [UInt8], serverKey: [UInt8]) -> [Self] {
        [
            Self(name: ZMQ_CURVE_SERVERKEY, value: .bytes(serverKey)),
            Self(name: ZMQ_CURVE_PUBLICKEY, value: .bytes(publicKey)),
            Self(name: ZMQ_CURVE_SECRETKEY, value: .bytes(secretKey)),
        ]
    }

    /// Makes the kernel probe a silent TCP peer after 15 s, then every 5 s. After three probes without an answer the
    /// kernel closes the connection. Other transports ignore these options.
    ///
    /// libzmq's own heartbeats (`ZMQ_HEARTBEAT_IVL`) must stay off: they can abort the process.
    package static let tcpKeepalive: [Self] = [
        Self(name: ZMQ_TCP_KEEPALIVE, value: .int32(1)), Self(name: ZMQ_TCP_KEEPALIVE_IDLE, value: .int32(15)),
        Self(name: ZMQ_TCP_KEEPALIVE_INTVL, value: .int32(5)), Self(name: ZMQ_TCP_KEEPALIVE_CNT, value: .int32(3)),
    ]
}
