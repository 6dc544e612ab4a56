import Dispatch
package import Foundation
import Glibc
import Synchronization

/// One line that was read from a descriptor.
package struct DescriptorLine: Sendable, Equatable {
    /// Without the line feed.
    package let bytes: Data
    /// Whether a line feed ended it: the last line of a file may lack one, and so does a part of a line that was split.
    package let isWhole: Bool

    package var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// Reads a descriptor line by line, and no more of it than a line and a piece into memory. Blocks its thread; ``DescriptorLines``
/// does not.
package struct LineReader {
    /// What becomes of a line that is longer than the limit.
    package enum Excess: Sendable {
        /// It is an error.
        case fails
        /// It becomes several.
        case splits
    }

    /// A line is longer than the limit.
    package struct TooLong: Error, Equatable {
        /// Of the line, counted from 1.
        package let number: Int
    }

    private let descriptor: CInt
    private let limit: Int
    private let excess: Excess
    private var buffer = Data()
    private var isAtEnd = false
    /// Of the line that was read last, counted from 1.
    package private(set) var number = 0

    private static let piece = 256 << 10

    /// - Parameters:
    ///   - descriptor: of a file, a terminal or a pipe: what is there is taken as soon as it is.
    ///   - limit: bytes of a line.
    package init(_ descriptor: CInt, limit: Int, excess: Excess = .fails) {
        self.descriptor = descriptor
        self.limit = limit
        self.excess = excess
    }

    /// Whether ``next()`` need not wait.
    package var holdsLine: Bool { buffer.contains(UInt8(ascii: "\n")) }

    /// - Returns: nil after the last line.
    /// - Throws: ``SystemError``; ``TooLong``.
    package mutating func next() throws -> DescriptorLine? {
        var searched = buffer.startIndex
        while true {
            let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n"))
            let length = (end ?? buffer.endIndex) - buffer.startIndex
            guard length <= limit else {
                guard excess == .splits else { throw TooLong(number: number + 1) }
                return take(limit, isWhole: false)
            }
            if end != nil { return take(length, isWhole: true) }
            if isAtEnd { return length == 0 ? nil : take(length, isWhole: false) }
            searched = try fill()
        }
    }

    private mutating func take(_ length: Int, isWhole: Bool) -> DescriptorLine {
        number += 1
        let line = DescriptorLine(bytes: buffer.prefix(length), isWhole: isWhole)
        buffer = buffer.dropFirst(length + (isWhole ? 1 : 0))
        return line
    }

    /// - Returns: where what is new begins.
    private mutating func fill() throws(SystemError) -> Data.Index {
        // Anew, so that what was read already is given back.
        buffer = Data(buffer)
        let end = buffer.endIndex
        buffer.append(Data(count: Self.piece))
        var count = -1
        repeat {
            count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress?.advanced(by: end), Self.piece) }
            // A signal that another thread handles interrupts this call, too.
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
/// A terminal, a pipe and a file are all read the same way: by a thread that may block, never one that tasks share. It reads
/// when lines are asked for. When a task is cancelled while it waits, the thread goes on waiting: what it reads is kept for
/// the next who asks.
package final class DescriptorLines: Sendable {
    private struct State {
        /// Nil while the thread has it.
        var reader: LineReader?
        /// What has been read and nobody has taken.
        var lines: ArraySlice<DescriptorLine> = []
        /// Why there are no more; success at the end.
        var end: Result<Void, any Error>?
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state: Mutex<State>
    private let queue = DispatchQueue(label: "lines")

    /// - Parameter reader: of a descriptor that nothing else reads.
    package init(_ reader: sending LineReader) {
        state = Mutex(State(reader: reader))
    }

    /// The next line; nil after the last.
    /// - Throws: `CancellationError`; what ``LineReader/next()`` throws.
    package func next() async throws -> DescriptorLine? {
        try await wait()
        return try state.withLock { state in
            if let line = state.lines.popFirst() { return line }
            try state.end?.get()
            return nil
        }
    }

    /// The next line, and with it those that have come together with it; nil after the last.
    /// - Throws: `CancellationError`; what ``LineReader/next()`` throws.
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

    /// Returns when there is a line, or the end.
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

    /// On the thread that may block.
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
