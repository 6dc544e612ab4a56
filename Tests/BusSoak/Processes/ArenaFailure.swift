/// Why a test of processes failed, with all that the processes had to say.
package struct ArenaFailure: Error, CustomStringConvertible {
    /// What was awaited or what went wrong.
    package let reason: String
    package let logs: String

    package var description: String { "\(reason)\n\n--- The processes ---\n\(logs)" }
}
