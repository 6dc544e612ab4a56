internal import CZeroMQ

/// A libzmq context. One a process: two contexts can crash when one of them closes (libzmq #4242).
///
/// - Note: `@unchecked Sendable`: a context is the one libzmq object that threads may share; the pointer never changes.
package final class Context: @unchecked Sendable {
    /// The process's context. It is never terminated: `zmq_ctx_term` would block until all sockets have lingered, and the
    /// end of the process frees it.
    package static let shared = Context()

    let pointer: UnsafeMutableRawPointer?

    private init() {
        pointer = zmq_ctx_new()
        if let pointer {
            zmq_ctx_set(pointer, ZMQ_MAX_SOCKETS, 4096)
        }
    }
}
