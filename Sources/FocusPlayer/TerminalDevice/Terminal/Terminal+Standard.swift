@preconcurrency internal import Dispatch
internal import Foundation

extension Terminal {
    /// This process's standard input and output.
    package static var standard: Terminal {
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
