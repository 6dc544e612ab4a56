import Glibc

/// The width of the help that the argument parser prints.
///
/// In a debug build the parser traps if the width is below 25 columns.
package enum HelpWidth {
    /// The minimum width, in columns.
    private static let minimum: CInt = 40

    /// Sets the variable `COLUMNS`, which the parser reads, if the width is below the minimum. Programs that this
    /// process starts later inherit the variable.
    ///
    /// Call it before other threads run, because they may read the environment at the same time.
    package static func ensure() {
        let variable = getenv("COLUMNS").flatMap { CInt(String(cString: $0)) }
        let width = variable ?? columns(of: STDOUT_FILENO) ?? columns(of: STDERR_FILENO)
        if let width, width < minimum { setenv("COLUMNS", String(minimum), 1) }
    }

    /// The width of a terminal. Nil if the descriptor is not a terminal, or if its size is not known.
    private static func columns(of descriptor: CInt) -> CInt? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return CInt(size.ws_col)
    }
}
