import Glibc

/// A log file open for reading.
final class LogFile {
    private static let blockSize = 65536

    let number: Int
    private let descriptor: CInt

    /// - Returns: `nil` when there is none.
    init?(_ files: LogFiles, number: Int) {
        self.number = number
        descriptor = Glibc.open(files.path(number), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Up to one block; empty at the present end.
    func read() -> [UInt8] {
        Array(unsafeUninitializedCapacity: Self.blockSize) { buffer, count in
            count = max(0, Glibc.read(descriptor, buffer.baseAddress, buffer.count))
        }
    }

    /// Whether nobody can open it any more.
    var isRemoved: Bool {
        var own = stat()
        return fstat(descriptor, &own) == 0 && own.st_nlink == 0
    }

    func seekToEnd() {
        lseek(descriptor, 0, SEEK_END)
    }

    /// Moves to where the last records begin that were written up to a time.
    ///
    /// - Returns: how many there are, at most `count`.
    func seek(toLast count: Int, until time: [UInt8]?) -> Int {
        var bytes: [UInt8] = []
        while case let block = read(), !block.isEmpty { bytes += block }
        var found = 0
        var start = 0
        // What is not ended is being written, or no record.
        var end = bytes.lastIndex(of: UInt8(ascii: "\n"))
        while let last = end, found < count {
            end = bytes[..<last].lastIndex(of: UInt8(ascii: "\n"))
            let record = bytes[(end.map { $0 + 1 } ?? 0)..<last]
            if let time, let own = LogRecord.time(of: record), time.lexicographicallyPrecedes(own) { continue }
            found += 1
            start = record.startIndex
        }
        lseek(descriptor, off_t(start), SEEK_SET)
        return found
    }
}
