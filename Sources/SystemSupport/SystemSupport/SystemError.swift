import Glibc

/// What the operating system has refused, and why.
package struct SystemError: Error, Hashable, Sendable {
    /// The file or socket that it was about.
    package let path: String
    /// `errno`.
    package let code: CInt

    /// - Parameter code: the error of the last call, unless said.
    package init(_ path: String, code: CInt = errno) {
        self.path = path
        self.code = code
    }

    /// The reason in words: `Permission denied`.
    package var reason: String { String(cString: strerror(code)) }
}

extension SystemError: CustomStringConvertible {
    package var description: String { "\(path): \(reason)" }
}
