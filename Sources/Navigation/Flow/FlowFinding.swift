/// One thing that is wrong with a flow.
public struct FlowFinding: Hashable, Sendable, CustomStringConvertible {
    /// The file, or the name of the flow when it was built in Swift.
    public let source: String
    /// The line in the file, from 1.
    public let line: Int?
    /// The column in the line, from 1.
    public let column: Int?
    /// What is wrong and what to do.
    public let message: String

    /// The finding in one line: where, what is wrong, what to do.
    public var description: String {
        line.map { "\(source):\($0): \(message)" } ?? "\(source): \(message)"
    }

    init(source: String, line: Int? = nil, column: Int? = nil, message: String) {
        self.source = source
        self.line = line
        self.column = column
        self.message = message
    }

    init(source: String, problem: FlowChecker.Problem) {
        self.init(source: source, message: "\(problem.place): \(problem.message)")
    }
}
