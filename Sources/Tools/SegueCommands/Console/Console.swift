internal import Dispatch
internal import Glibc
internal import SystemPackage

/// One of the streams a command writes to.
///
/// A terminal may be stopped, a pipe be full: writing waits on a thread of its own, and never on one that tasks share.
final class Console: Sendable {
    static let output = Console(.standardOutput)
    static let error = Console(.standardError)

    let descriptor: FileDescriptor
    private let queue: DispatchQueue

    init(_ descriptor: FileDescriptor) {
        self.descriptor = descriptor
        queue = DispatchQueue(label: "console-\(descriptor.rawValue)")
    }

    /// - Throws: `Errno`, `brokenPipe` among them.
    func write(_ text: String) async throws {
        try await onQueue { _ = try $0.writeAll(text.utf8) }
    }

    /// Closes a file once it is on the disk; nothing may be written to it any more.
    /// - Throws: `Errno`.
    func closeOnDisk() async throws {
        try await onQueue { descriptor in
            try descriptor.closeAfter {
                if fsync(descriptor.rawValue) != 0 { throw Errno(rawValue: errno) }
            }
        }
    }

    private func onQueue(_ body: @escaping @Sendable (FileDescriptor) throws -> Void) async throws {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [descriptor] in continuation.resume(with: Result { try body(descriptor) }) }
        }
    }

    func writeLine(_ text: some StringProtocol) async throws {
        try await write("\(text)\n")
    }

    /// Tells a person something, each line marked as this program's. That nobody reads it is no reason to fail.
    func tell(_ lines: [String]) async {
        try? await write(lines.map { $0.hasPrefix("  ") ? "\($0)\n" : "segue: \($0)\n" }.joined())
    }

    func tell(_ line: String) async {
        await tell([line])
    }
}

extension Console {
    var isTerminal: Bool { isatty(descriptor.rawValue) == 1 }

    /// Whether to write in colour: to a terminal that can, unless its user does not want it (no-color.org).
    var isColored: Bool {
        isTerminal && !isSet("NO_COLOR") && getenv("TERM").map { String(cString: $0) } != "dumb"
    }

    /// How wide the terminal is now; `nil` where there is none to cut a line for.
    var columns: Int? {
        var size = winsize()
        guard isTerminal, ioctl(descriptor.rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    private func isSet(_ variable: String) -> Bool {
        getenv(variable).map { $0.pointee != 0 } ?? false
    }
}
