/// The failure of a test of a stack or of a bus.
///
/// Its description fits on a screen: the line of the test, what it waited for, the last state of each platform, what
/// happened last, the processes, and the file with all logs.
public struct StackFailure: Error, CustomStringConvertible {
    /// The problem: what was awaited and has not happened, or an error. One line, unless the error has several.
    public let reason: String

    /// The path of the file with the logs of all processes and the messages. Nil if there are no processes.
    public internal(set) var logFile: String?

    private let report: FailureReport

    init(_ report: FailureReport) {
        reason = report.reason
        self.report = report
    }

    public var description: String {
        (report.lines + (logFile.map { ["Logs: \($0)"] } ?? [])).joined(separator: "\n")
    }
}
