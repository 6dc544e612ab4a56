internal import EventBus
internal import Foundation
internal import Monitor
internal import Navigation
internal import Support

/// Writes messages to standard output, for a person or for a program.
struct MessagePrinter: Sendable {
    private let format: any MessageFormat
    private let output = Console.output
    /// True if a format for programs is printed to a terminal. Then control characters are removed or replaced by
    /// spaces.
    private let isCleaned: Bool

    /// - Parameter verbose: true to print whole lines and further attributes; applies only to the format for people.
    /// - Throws: `ValidationError` for a syntax error in `--field` or `--template`.
    init(_ options: PrintOptions, verbose: Bool = false) throws {
        let isColored = Console.output.isColored(options.color)
        let chosen = try options.format
        format = chosen ?? TerminalFormat(verbose: verbose, isColored: isColored, output: output)
        isCleaned = chosen != nil && output.isTerminal
    }

    /// Writes the heading of the format, if it has one.
    func begin() async throws {
        if let heading = format.heading { try await append(Array("\(heading)\n".utf8)) }
    }

    func show(_ message: Envelope) async throws {
        var lines: [UInt8] = []
        try format.write(message, to: &lines)
        try await append(lines)
    }

    private func append(_ lines: [UInt8]) async throws {
        guard isCleaned else { return try await output.append(lines) }
        let text = String(decoding: lines.dropLast(), as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        try await output.append(text.map { String($0).printable + "\n" }.joined().utf8)
    }
}

/// The format for people: one line for each message, cut to the width of the terminal. If verbose, lines are not cut,
/// and further attributes follow on lines of their own.
struct TerminalFormat: MessageFormat {
    let verbose: Bool
    let isColored: Bool
    let output: Console
    private let pretty = PrettyFormat()

    func write(_ message: Envelope, to lines: inout [UInt8]) {
        // The width is read for each message because the user may resize the window.
        let columns = verbose ? nil : output.columns
        for line in [pretty.line(message)] + (verbose ? pretty.details(message) : []) {
            lines.append(contentsOf: line.rendered(isColored: isColored, columns: columns).utf8)
            lines.append(UInt8(ascii: "\n"))
        }
    }
}

/// Writes the data of one message to standard output.
struct DataPrinter {
    /// True to print the data on one line; false to print it indented, for people.
    let json: Bool

    func show(_ data: Data) async throws {
        try await Console.output.writeLine(text(data))
    }

    func text(_ data: Data) throws -> String {
        // Any program may publish, so the data may not be JSON.
        let raw = String(decoding: data, as: UTF8.self)
        if json { return JSONText(data)?.description ?? raw }
        return try (try? JSONValue(parsing: data)).map(Self.indented) ?? raw.printable
    }

    /// A value as JSON with indentation and sorted keys.
    static func indented(_ value: JSONValue) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
