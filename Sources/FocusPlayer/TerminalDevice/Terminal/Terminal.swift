/// Where a device is used: who writes its lines, and where it draws.
package struct Terminal: Sendable {
    package var lines: AsyncStream<String>
    package var mode: DeviceSession.Mode
    /// Asked before each drawing. nil: the screens follow one another and are never cut, as in a file.
    package var size: @Sendable () -> TerminalSize?
    /// An element whenever the size changes.
    package var resizes: AsyncStream<Void>
    /// Returns once the text is written.
    package var write: @Sendable (String) async -> Void

    package init(
        lines: AsyncStream<String>, mode: DeviceSession.Mode, size: @escaping @Sendable () -> TerminalSize? = { nil },
        resizes: AsyncStream<Void> = AsyncStream { $0.finish() },
        write: @escaping @Sendable (String) async -> Void
    ) {
        self.lines = lines
        self.mode = mode
        self.size = size
        self.resizes = resizes
        self.write = write
    }
}
