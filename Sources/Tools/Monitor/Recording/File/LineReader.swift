internal import Foundation
internal import SystemPackage

/// Reads a file line by line, and no more of it than that into memory.
struct LineReader {
    /// Longer than any message, whose data has at most 8 MiB, a third more in Base64.
    private static let limit = 16 << 20
    private static let chunk = 256 << 10

    private let file: FileDescriptor
    private var buffer = Data()
    private var isAtEnd = false

    init(_ file: FileDescriptor) {
        self.file = file
    }

    struct Line {
        let text: Data
        /// Whether a line feed stands behind it.
        let isWhole: Bool
    }

    /// - Returns: nil behind the last line.
    /// - Throws: `Errno`; ``RecordingError`` for a line that is longer than any message.
    mutating func next() throws -> Line? {
        var searched = buffer.startIndex
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { buffer = buffer[(end + 1)...] }
                return Line(text: buffer[..<end], isWhole: true)
            }
            if isAtEnd {
                defer { buffer = Data() }
                return buffer.isEmpty ? nil : Line(text: buffer, isWhole: false)
            }
            guard buffer.count <= Self.limit else {
                throw RecordingError("recording.line", "it has a line that is longer than any message")
            }
            searched = try fill()
        }
    }

    /// - Returns: where what is new begins.
    private mutating func fill() throws -> Data.Index {
        // Anew, so that what was read already is given back.
        buffer = Data(buffer)
        let end = buffer.endIndex
        buffer.append(Data(count: Self.chunk))
        let count = try buffer.withUnsafeMutableBytes { try file.read(into: .init(rebasing: $0[end...])) }
        buffer.removeLast(Self.chunk - count)
        isAtEnd = count == 0
        return end
    }
}
