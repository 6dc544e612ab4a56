internal import EventBus
internal import Monitor

/// Writes messages to standard output, for a person or for a program.
struct MessagePrinter: Sendable {
    private let json: Bool
    private let verbose: Bool
    private let pretty = PrettyFormat()
    private let output = Console.output
    private let isColored = Console.output.isColored

    /// - Parameters:
    ///   - json: one object a line.
    ///   - verbose: whole lines, and all attributes.
    init(json: Bool, verbose: Bool = false) {
        self.json = json
        self.verbose = verbose
    }

    func show(_ message: Envelope) async throws {
        if json { return try await output.writeLine(CloudEventFormat.line(message)) }
        let lines = [pretty.line(message)] + (verbose ? pretty.details(message) : [])
        // Asked each time: the window may have been made wider.
        let columns = verbose ? nil : output.columns
        let text = lines.map { $0.rendered(isColored: isColored, columns: columns) + "\n" }.joined()
        try await output.write(text)
    }
}
