/// Why a recording cannot be used.
package struct RecordingError: Error, Hashable, Sendable {
    /// A stable name for a program.
    package let code: String
    /// One line: what is wrong, and where.
    package let message: String
    /// What to do about it.
    package let recovery: String?
    /// Whether the file is not there or cannot be read, rather than a wrong one.
    package let isMissing: Bool

    init(_ code: String, _ message: String, recovery: String? = nil, isMissing: Bool = false) {
        self.code = code
        self.message = message
        self.recovery = recovery
        self.isMissing = isMissing
    }
}

extension RecordingError: CustomStringConvertible {
    package var description: String { recovery.map { "\(message); \($0)" } ?? message }
}
