internal import CZeroMQ

/// The kinds of socket that this project uses.
package enum SocketType: Sendable {
    case dealer, router, xpub, sub

    var rawValue: Int32 {
        switch self {
        case .dealer: ZMQ_DEALER
        case .router: ZMQ_ROUTER
        case .xpub: ZMQ_XPUB
        case .sub: ZMQ_SUB
        }
    }
}
