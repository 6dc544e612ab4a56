/// Why the simulator cannot run. Its description is one line that a person can act on.
package struct SpotifySimulatorError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Stable, for programs.
    package let code: String
    /// What is wrong.
    package let message: String
    /// What to do.
    package let recovery: String

    package var description: String { "\(message); \(recovery)" }

    static func portInUse(_ port: Int) -> Self {
        Self(
            code: "simulator.portInUse",
            message: "port \(port) on 127.0.0.1 is in use",
            recovery: "choose another with --port or SEGUE_PORT_SPOTIFY (0 picks a free one)"
        )
    }

    /// The text in `SEGUE_PORT_SPOTIFY` is no port.
    package static func invalidPort(_ text: String) -> Self {
        Self(
            code: "simulator.invalidPort",
            message: "SEGUE_PORT_SPOTIFY is '\(text)', which is no port",
            recovery: "set it to a number from 0 to 65535 or give --port"
        )
    }

    static func cannotListen(_ port: Int, reason: String) -> Self {
        Self(
            code: "simulator.cannotListen",
            message: "cannot listen on 127.0.0.1:\(port): \(reason)",
            recovery: "choose another port with --port or SEGUE_PORT_SPOTIFY (0 picks a free one)"
        )
    }

    static func unusableStateFile(_ file: String) -> Self {
        Self(
            code: "simulator.unusableStateFile",
            message: "\(file): not the state of a simulator",
            recovery: "delete it or name another with --state"
        )
    }

    static func unwritableStateFile(_ file: String) -> Self {
        Self(
            code: "simulator.unwritableStateFile",
            message: "\(file): cannot write the simulator's state",
            recovery: "make its folder writable or name another with --state"
        )
    }
}
