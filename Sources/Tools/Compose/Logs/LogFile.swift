import Glibc

/// A log file open for reading.
final class LogFile {
    private static let blockSize = 65536
    private let descriptor: CInt

    /// - Returns: `nil` when there is none.
    init?(path: String) {
        descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
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

    /// Moves to where the last lines begin, looking back block by block.
    func seek(toLast lines: Int) {
        var offset = lseek(descriptor, 0, SEEK_END)
        var found = 0
        var block = [UInt8](repeating: 0, count: Self.blockSize)
        // The end of the last line is no beginning of another one.
        var isLastByte = true
        while offset > 0 {
            let size = min(off_t(Self.blockSize), offset)
            let count = pread(descriptor, &block, Int(size), offset - size)
            guard count == Int(size) else { break }
            for index in block[..<count].indices.reversed() {
                if block[index] == UInt8(ascii: "\n"), !isLastByte || lines == 0 { found += 1 }
                isLastByte = false
                if found >= max(lines, 1) {
                    lseek(descriptor, offset - size + off_t(index) + 1, SEEK_SET)
                    return
                }
            }
            offset -= size
        }
        lseek(descriptor, 0, lines == 0 ? SEEK_END : SEEK_SET)
    }

    /// Whether another file has taken its place.
    func isReplaced(at path: String) -> Bool {
        var own = stat()
        var present = stat()
        guard fstat(descriptor, &own) == 0, stat(path, &present) == 0 else { return false }
        return own.st_ino != present.st_ino || own.st_dev != present.st_dev
    }
}
