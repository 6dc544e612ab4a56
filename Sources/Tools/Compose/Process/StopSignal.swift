import Glibc
package import Subprocess
internal import Support

/// A signal, which is written as its number or as its name with or without `SIG`.
package struct StopSignal: Sendable, Hashable {
    package let number: Int32

    package static let terminate = StopSignal(number: SIGTERM)
    static let kill = StopSignal(number: SIGKILL)

    package init(number: Int32) {
        self.number = number
    }

    package init?(_ text: String) {
        if let number = Int32(text), (1...64).contains(number) {
            self.number = number
            return
        }
        let name = text.uppercased()
        guard let number = Self.names[String(name.removing(prefix: "SIG") ?? name[...])] else { return nil }
        self.number = number
    }

    /// The name of a signal, such as `SIGTERM`; `signal 42` for a signal without a name in this type.
    package static func name(of number: Int32) -> String {
        names.first { $0.value == number }.map { "SIG\($0.key)" } ?? "signal \(number)"
    }

    private static let names: [String: Int32] = [
        "HUP": SIGHUP, "INT": SIGINT, "QUIT": SIGQUIT, "ILL": SIGILL, "TRAP": SIGTRAP, "ABRT": SIGABRT,
        "BUS": SIGBUS, "FPE": SIGFPE, "KILL": SIGKILL, "USR1": SIGUSR1, "SEGV": SIGSEGV, "USR2": SIGUSR2,
        "PIPE": SIGPIPE, "ALRM": SIGALRM, "TERM": SIGTERM, "CONT": SIGCONT, "STOP": SIGSTOP, "WINCH": SIGWINCH,
    ]
}

extension StopSignal: CustomStringConvertible {
    /// The signal as written in a compose file: its name, or its number if it has no name in this type.
    package var description: String {
        Self.names.first { $0.value == number }.map { "SIG\($0.key)" } ?? String(number)
    }
}

extension TerminationStatus {
    /// The end of the process as a phrase for messages: `exited with status 1`, `ended by SIGTERM`.
    package var summary: String {
        switch self {
        case .exited(let code): "exited with status \(code)"
        case .signaled(let signal): "ended by \(StopSignal.name(of: signal))"
        }
    }
}
