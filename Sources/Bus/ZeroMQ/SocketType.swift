internal import CZeroMQ

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
