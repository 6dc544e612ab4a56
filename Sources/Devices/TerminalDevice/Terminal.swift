@preconcurrency internal import Dispatch
internal import Foundation

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
            lines: StandardInput.lines(), mode: isInteractive ? .interactive : .scripted,
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
///
/// A terminal, a pipe and a file are all read the same way: by a thread of its own that may block, which only some of
/// them would spare us. It reads when a line is asked for, so that no more than one waits here.
enum StandardInput {
    /// For one reader.
    static func lines() -> AsyncStream<String> {
        let demand = DispatchSemaphore(value: 0)
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            var reader = LineReader(descriptor: STDIN_FILENO)
            while true {
                demand.wait()
                guard let line = reader.next() else { break }
                continuation.yield(line)
            }
            continuation.finish()
        }
        return AsyncStream {
            demand.signal()
            for await line in lines { return line }
            return nil
        }
    }
}

/// Splits what a descriptor gives into lines. Blocks.
struct LineReader: IteratorProtocol {
    /// What is longer is no answer that anybody would type; it becomes several.
    private static let maximumLength = 4096

    private let descriptor: CInt
    private var pending: ArraySlice<UInt8> = []
    private var hasEnded = false

    init(descriptor: CInt) {
        self.descriptor = descriptor
    }

    /// - Returns: nil at the end of the input, and when it cannot be read.
    mutating func next() -> String? {
        while true {
            if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                defer { pending = pending[(end + 1)...] }
                return String(decoding: pending[..<end], as: UTF8.self)
            }
            if hasEnded || pending.count >= Self.maximumLength {
                defer { pending = [] }
                return pending.isEmpty ? nil : String(decoding: pending, as: UTF8.self)
            }
            readMore()
        }
    }

    private mutating func readMore() {
        var buffer = [UInt8](repeating: 0, count: Self.maximumLength)
        let count = read(descriptor, &buffer, buffer.count)
        // A signal that another thread handles interrupts this call, too.
        if count < 0, errno == EINTR { return }
        if count > 0 { pending += buffer[..<count] } else { hasEnded = true }
    }
}
