@preconcurrency internal import Dispatch
internal import Foundation
internal import Support
internal import SystemSupport

/// The input and the output of a device.
struct Terminal: Sendable {
    /// The source of the lines.
    enum Mode: Sendable {
        /// A person, who sees the screen. A line is applied to the current screen.
        case interactive
        /// A pipe or a file. A line waits for a screen on which it can be applied.
        case scripted
    }

    /// The lines of input. Nil for a line that is not UTF-8.
    var lines: AsyncStream<String?>
    var mode: Mode
    /// The size of the terminal, read before each drawing. Nil if the input or the output is not a terminal: scenes are
    /// then written one after the other, and are not shortened.
    var size: @Sendable () -> TerminalSize? = { nil }
    /// Yields an element when the size has changed.
    var resizes: AsyncStream<Void> = AsyncStream { $0.finish() }
    /// The log to show on the screen. Nil if log lines are written to standard error.
    var log: ScreenLog?
    /// Writes a text, and returns when it has been written.
    var write: @Sendable (TerminalText) async -> Void

    /// This process's standard input and output.
    static var standard: Terminal {
        let isInteractive = isatty(STDIN_FILENO) == 1
        let draws = isInteractive && isatty(STDOUT_FILENO) == 1
        let output = StandardOutput()
        return Terminal(
            lines: TerminalInput.lines(), mode: isInteractive ? .interactive : .scripted,
            size: { draws ? standardSize : nil }, resizes: draws ? resizes : AsyncStream { $0.finish() },
            log: draws && isatty(STDERR_FILENO) == 1 ? ScreenLog() : nil, write: output.write)
    }

    private static var resizes: AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let signal = DispatchSource.makeSignalSource(signal: SIGWINCH, queue: .global())
            signal.setEventHandler { continuation.yield() }
            continuation.onTermination = { _ in signal.cancel() }
            signal.resume()
        }
    }

    private static var standardSize: TerminalSize {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return TerminalSize(columns: 80, rows: 24)
        }
        return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }
}

/// Standard output. While a terminal is stopped (Ctrl-S) or a pipe is full, the caller waits without blocking a thread
/// of the cooperative pool.
struct StandardOutput: Sendable {
    private let queue = DispatchQueue(label: "standard-output")

    func write(_ text: TerminalText) async {
        await withCheckedContinuation { continuation in
            queue.async {
                // Errors are ignored.
                try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
                continuation.resume()
            }
        }
    }
}

/// The lines of standard input.
enum TerminalInput {
    /// The maximum length of a line in bytes. A longer line is split into several lines.
    private static let longestLine = 4096

    /// The lines of a file descriptor, for one reader; nil for a line that is not UTF-8. The sequence ends at the end of
    /// the input, or when the input cannot be read.
    static func lines(of descriptor: CInt = STDIN_FILENO) -> AsyncStream<String?> {
        let lines = DescriptorLines(LineReader(descriptor, limit: longestLine, excess: .splits))
        return AsyncStream { (try? await lines.next()).map(\.text) }
    }
}
