package import Foundation
package import SystemPackage

/// Reads line by line, and no more of what comes than a line and a piece into memory.
package struct LineReader {
    /// Longer than any message, whose data has at most 4 MiB, a third more in Base64.
    package static let limit = 8 << 20
    private static let chunk = 256 << 10

    private let file: FileDescriptor
    private var buffer = Data()
    private var isAtEnd = false
    /// Of the line that was read last, counted from 1.
    package private(set) var number = 0

    /// - Parameter file: may be a pipe: what is there is taken as soon as it is.
    package init(_ file: FileDescriptor) {
        self.file = file
    }

    package struct Line {
        package let text: Data
        /// Whether a line feed stands behind it.
        package let isWhole: Bool
    }

    /// A line is longer than any message.
    package struct TooLong: Error {
        package let number: Int
    }

    /// Whether ``next()`` need not wait.
    package var holdsLine: Bool { buffer.contains(UInt8(ascii: "\n")) }

    /// - Returns: nil behind the last line.
    /// - Throws: `Errno`; ``TooLong``.
    package mutating func next() throws -> Line? {
        var searched = buffer.startIndex
        while true {
            let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n"))
            guard (end ?? buffer.endIndex) - buffer.startIndex <= Self.limit else { throw TooLong(number: number + 1) }
            if let end {
                defer { buffer = buffer[(end + 1)...] }
                return line(buffer[..<end], isWhole: true)
            }
            if isAtEnd {
                defer { buffer = Data() }
                return buffer.isEmpty ? nil : line(buffer, isWhole: false)
            }
            searched = try fill()
        }
    }

    private mutating func line(_ text: Data, isWhole: Bool) -> Line {
        number += 1
        return Line(text: text, isWhole: isWhole)
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
