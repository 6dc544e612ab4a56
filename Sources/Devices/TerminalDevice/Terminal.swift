@preconcurrency internal import Dispatch
internal import Foundation
internal import SystemSupport

/// Where a device is used: who writes its lines, and where it draws.
struct Terminal: Sendable {
    /// Who writes the lines.
    enum Mode: Sendable {
        /// A person, who sees the screen: a line is about what is on it now.
        case interactive
        /// A pipe or a file: a line waits for the screen that it is about.
        case scripted
    }

    var lines: AsyncStream<String>
    var mode: Mode
    /// Asked before each drawing. nil: the screens follow one another and are never cut, as in a file.
    var size: @Sendable () -> TerminalSize? = { nil }
    /// An element whenever the size changes.
    var resizes: AsyncStream<Void> = AsyncStream { $0.finish() }
    /// Returns once the text is written.
    var write: @Sendable (String) async -> Void

    /// This process's standard input and output.
    static var standard: Terminal {
        let isInteractive = isatty(STDIN_FILENO) == 1
        let draws = isInteractive && isatty(STDOUT_FILENO) == 1
        let output = StandardOutput()
        return Terminal(
            lines: TerminalInput.lines(), mode: isInteractive ? .interactive : .scripted,
            size: { draws ? standardSize : nil }, resizes: draws ? resizes : AsyncStream { $0.finish() },
            write: output.write)
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

/// Standard output. A terminal may be stopped (Ctrl-S) and a pipe full: whoever writes waits, but no thread of the
/// cooperative pool does.
struct StandardOutput: Sendable {
    private let queue = DispatchQueue(label: "standard-output")

    func write(_ text: String) async {
        await withCheckedContinuation { continuation in
            queue.async {
                // Nobody reads any more: there is nobody to tell.
                try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
                continuation.resume()
            }
        }
    }
}

/// The lines of standard input.
enum TerminalInput {
    /// The bytes of the longest answer that anybody would type. A line that is longer becomes several.
    private static let longestLine = 4096

    /// For one reader. They end with the input, and when it cannot be read.
    static func lines(of descriptor: CInt = STDIN_FILENO) -> AsyncStream<String> {
        let lines = DescriptorLines(LineReader(descriptor, limit: longestLine, excess: .splits))
        return AsyncStream { try? await lines.next()?.text }
    }
}
