import Dispatch
package import Foundation
import Glibc
import Synchronization

/// One line that was read from a descriptor.
package struct DescriptorLine: Sendable, Equatable {
    /// The content, without the line feed.
    package let bytes: Data
    /// True if a line feed ended the line. False for the last line of a file without a final line feed, and for all
    /// parts of a split line except the last.
    package let isWhole: Bool

    /// The content. Nil if it is not UTF-8.
    package var text: String? { String(validating: bytes, as: UTF8.self) }
}

/// Reads a descriptor line by line. It holds at most one line of the maximum length and one block (256 KiB) in memory.
/// It blocks its thread; ``DescriptorLines`` reads without blocking its caller.
package struct LineReader {
    /// The treatment of a line that is longer than the limit.
    package enum Excess: Sendable {
        /// ``LineReader/next()`` throws ``TooLong``.
        case fails
        /// The line is returned in several parts, each within the limit.
        case splits
    }

    /// The error for a line that is longer than the limit.
    package struct TooLong: Error, Equatable {
        /// The number of the line, counted from 1.
        package let number: Int
    }

    private let descriptor: CInt
    private let limit: Int
    private let excess: Excess
    private var buffer = Data()
    private var isAtEnd = false
    /// The number of the last line that was read, counted from 1; 0 before the first. Each part of a split line counts.
    package private(set) var number = 0

    private static let piece = 256 << 10

    /// - Parameters:
    ///   - descriptor: A file, a terminal or a pipe. Lines are returned as soon as they can be read.
    ///   - limit: The maximum length of a line in bytes, without its line feed.
    ///   - excess: The treatment of a longer line.
    package init(_ descriptor: CInt, limit: Int, excess: Excess = .fails) {
        self.descriptor = descriptor
        self.limit = limit
        self.excess = excess
    }

    /// True if ``next()`` can return a line without reading.
    package var holdsLine: Bool { buffer.contains(UInt8(ascii: "\n")) }

    /// The next line; nil after the last.
    /// - Throws: ``SystemError``; ``TooLong``.
    package mutating func next() throws -> DescriptorLine? {
        var searched = buffer.startIndex
        while true {
            let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n"))
            let length = (end ?? buffer.endIndex) - buffer.startIndex
            guard length <= limit else {
                guard excess == .splits else { throw TooLong(number: number + 1) }
                return consume(limit, isWhole: false)
            }
            if end != nil { return consume(length, isWhole: true) }
            if isAtEnd { return length == 0 ? nil : consume(length, isWhole: false) }
            searched = try fill()
        }
    }

    private mutating func consume(_ length: Int, isWhole: Bool) -> DescriptorLine {
        number += 1
        let line = DescriptorLine(bytes: buffer.prefix(length), isWhole: isWhole)
        buffer = buffer.dropFirst(length + (isWhole ? 1 : 0))
        return line
    }

    /// Reads one block.
    /// - Returns: The index of its first byte.
    private mutating func fill() throws(SystemError) -> Data.Index {
        // Copying frees the memory of the lines that were consumed.
        buffer = Data(buffer)
        let end = buffer.endIndex
        buffer.append(Data(count: Self.piece))
        var count = -1
        repeat {
            count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress?.advanced(by: end), Self.piece) }
            // A signal can interrupt this call.
        } while count < 0 && errno == EINTR
        let code = errno
        buffer.removeLast(Self.piece - max(0, count))
        guard count >= 0 else { throw SystemError("descriptor \(descriptor)", code: code) }
        isAtEnd = count == 0
        return end
    }
}

/// The lines of a descriptor, for one reader at a time.
///
/// The descriptor is read on a thread of a dispatch queue, and only when lines are asked for. If a task is cancelled
/// while it waits, the thread continues to wait, and the next caller gets the lines that the thread reads.
package final class DescriptorLines: Sendable {
    private struct State {
        /// Nil while the thread uses the reader.
        var reader: LineReader?
        /// The lines that were read but not yet returned.
        var lines: ArraySlice<DescriptorLine> = []
        /// The reason why no more lines are read: success at the end of the input, or an error. Nil before the reading
        /// has ended.
        var end: Result<Void, any Error>?
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state: Mutex<State>
    private let queue = DispatchQueue(label: "lines")

    /// - Parameter reader: A reader of a descriptor that nothing else reads.
    package init(_ reader: sending LineReader) {
        state = Mutex(State(reader: reader))
    }

    /// The next line; nil after the last.
    /// - Throws: `CancellationError`; the errors of ``LineReader/next()``.
    package func next() async throws -> DescriptorLine? {
        try await wait()
        return try state.withLock { state in
            if let line = state.lines.popFirst() { return line }
            try state.end?.get()
            return nil
        }
    }

    /// The next line and all further lines that were read together with it; nil after the last.
    /// - Throws: `CancellationError`; the errors of ``LineReader/next()``.
    package func nextBatch() async throws -> [DescriptorLine]? {
        try await wait()
        return try state.withLock { state in
            guard state.lines.isEmpty else {
                defer { state.lines = [] }
                return Array(state.lines)
            }
            try state.end?.get()
            return nil
        }
    }

    /// Returns when there is a line, or the input has ended.
    private func wait() async throws {
        try Task.checkCancellation()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isThere, isIdle) = state.withLock { state in
                    guard state.lines.isEmpty, state.end == nil else { return (true, false) }
                    state.waiting = continuation
                    return (false, state.reader != nil)
                }
                if isThere { return continuation.resume() }
                if isIdle { queue.async { self.read() } }
                if Task.isCancelled { wake() }
            }
        } onCancel: {
            wake()
        }
        try Task.checkCancellation()
    }

    private func wake() {
        state.withLock { state in
            defer { state.waiting = nil }
            return state.waiting
        }?.resume()
    }

    /// Reads lines. Runs on the thread that may block.
    private func read() {
        guard
            var reader = state.withLock({ state in
                defer { state.reader = nil }
                return state.reader
            })
        else { return }
        var lines: [DescriptorLine] = []
        var end: Result<Void, any Error>?
        do {
            repeat {
                guard let line = try reader.next() else {
                    end = .success(())
                    break
                }
                lines.append(line)
            } while reader.holdsLine
        } catch {
            end = .failure(error)
        }
        state.withLock { [lines, end, reader] state in
            state.reader = reader
            state.lines += lines
            state.end = end
        }
        wake()
    }
}
