internal import CZeroMQ
internal import Glibc

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
