package import Foundation
internal import Glibc

/// Writes all bytes to a descriptor. Waits while a pipe is full.
///
/// - Parameter name: the path of the file, or the name of the descriptor, for the error.
package func writeAll(_ bytes: Data, to descriptor: CInt, _ name: String) throws(SystemError) {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw SystemError(name) }
        rest = rest.dropFirst(count)
    }
}
