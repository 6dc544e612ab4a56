/// Why a test of a stack failed, with all that the processes and the bus had to say.
public struct StackFailure: Error, CustomStringConvertible {
    public let description: String

    /// One line: what was awaited or what went wrong.
    public let reason: String

    init(_ reason: String, logs: String, transcript: String) {
        self.reason = reason
        description = """
            \(reason)

            --- The bus ---
            \(transcript)

            --- The processes ---
            \(logs)
            """
    }
}
