internal import EventBus
internal import Foundation
internal import Monitor
internal import Navigation

/// Writes messages to standard output, for a person or for a program.
struct MessagePrinter: Sendable {
    private let options: PrintOptions
    private let verbose: Bool
    private let pretty = PrettyFormat()
    private let output = Console.output
    private let isColored = Console.output.isColored

    /// - Parameter verbose: whole lines, and all attributes.
    init(_ options: PrintOptions, verbose: Bool = false) {
        self.options = options
        self.verbose = verbose
    }

    func show(_ message: Envelope) async throws {
        if options.json { return try await output.writeLine(CloudEventFormat.line(message)) }
        if let field = options.field { return try await output.writeLine(value(at: field, of: message)) }
        let lines = [pretty.line(message)] + (verbose ? pretty.details(message) : [])
        // Asked each time: the window may have been made wider.
        let columns = verbose ? nil : output.columns
        let text = lines.map { $0.rendered(isColored: isColored, columns: columns) + "\n" }.joined()
        try await output.write(text)
    }

    /// A text as it is, anything else as JSON; an empty line where there is nothing, so that lines still count messages.
    private func value(at path: String, of message: Envelope) throws -> String {
        let value = try JSONValue(parsing: Data(CloudEventFormat.line(message).utf8)).value(at: path)
        return value.map { ($0.stringValue ?? $0.description).printable } ?? ""
    }
}
