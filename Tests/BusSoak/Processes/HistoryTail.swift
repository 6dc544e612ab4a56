internal import Glibc

/// Counts the lines of a history while it grows.
final class HistoryTail: Sendable {
    private let descriptor: CInt

    /// - Throws: ``HistoryError`` if the file cannot be read.
    init(path: String) throws {
        // Made here, if its writer has not come to it yet.
        descriptor = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw HistoryError(path: path, reason: String(cString: strerror(errno))) }
    }

    deinit {
        close(descriptor)
    }

    /// Counts the lines that have come since; half a line is left for the next time.
    func count(into counts: inout Counts) {
        withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 1) { buffer in
            guard let start = buffer.baseAddress else { return }
            while case let size = read(descriptor, start, buffer.count), size > 0 {
                var line = 0
                while line < size, let end = memchr(start + line, Int32(UInt8(ascii: "\n")), size - line) {
                    counts.count(buffer[line])
                    line = end - start + 1
                }
                lseek(descriptor, off_t(line - size), SEEK_CUR)
                if line == 0 { return }
            }
        }
    }
}
