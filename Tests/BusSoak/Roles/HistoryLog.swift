package import BusChecker
internal import Glibc

/// Where a process writes down what it does, one line each, before the next thing happens.
///
/// Plain write(2): the kernel has the line then, and a kill -9 of the process does not take it back.
package final class HistoryLog: Sendable {
    private let path: String
    private let descriptor: CInt

    /// - Throws: ``HistoryError`` if the file cannot be made.
    package init(path: String) throws {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw HistoryError(path: path, reason: String(cString: strerror(errno))) }
    }

    deinit {
        close(descriptor)
    }

    /// - Throws: ``HistoryError`` unless all of it is written.
    package func write(_ lines: [HistoryLine]) throws {
        let bytes = Array(lines.map { "\($0)\n" }.joined().utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw HistoryError(path: path, reason: String(cString: strerror(errno)))
        }
    }
}
