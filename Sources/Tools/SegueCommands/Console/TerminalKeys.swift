internal import Glibc
internal import SystemPackage

/// A terminal's keyboard, to be had key by key.
struct TerminalKeys: Sendable {
    private let input: FileDescriptor
    /// How the terminal was before; nil when the input is none.
    private let settings: termios?

    init(_ input: FileDescriptor) {
        self.input = input
        var settings = termios()
        self.settings = tcgetattr(input.rawValue, &settings) == 0 ? settings : nil
    }

    /// Has the terminal give each key at once, and not show it; signals still come of Ctrl-C.
    func take() {
        guard var settings else { return }
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        // What was typed ahead stays.
        tcsetattr(input.rawValue, TCSANOW, &settings)
    }

    func giveBack() {
        guard var settings else { return }
        tcsetattr(input.rawValue, TCSANOW, &settings)
    }
}
