import Glibc

/// An error of the operating system.
package struct SystemError: Error, Hashable, Sendable {
    /// The path of the file or socket that the error is about, or the name of a descriptor, such as `descriptor 0`.
    package let path: String
    /// `errno`.
    package let code: CInt

    /// - Parameter code: By default `errno`, the error of the last call.
    package init(_ path: String, code: CInt = errno) {
        self.path = path
        self.code = code
    }

    /// The reason in words, such as `Permission denied`.
    package var reason: String { String(cString: strerror(code)) }
}

extension SystemError: CustomStringConvertible {
    package var description: String { "\(path): \(reason)" }
}
