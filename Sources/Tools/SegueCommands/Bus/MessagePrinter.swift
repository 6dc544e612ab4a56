internal import EventBus
internal import Foundation
internal import Monitor
internal import Navigation
internal import Support

/// Writes messages to standard output, for a person or for a program.
struct MessagePrinter: Sendable {
    private enum Form {
        case people(TerminalFormat)
        case programs(any MessageFormat)
    }

    private let form: Form
    private let output = Console.output

    /// - Parameter verbose: true to print whole lines and further attributes; applies only to the format for people.
    /// - Throws: `ValidationError` for a syntax error in `--field` or `--template`.
    init(_ options: PrintOptions, verbose: Bool = false) throws {
        let isColored = Console.output.isColored(options.color)
        form =
            try options.format.map { .programs($0) }
            ?? .people(TerminalFormat(verbose: verbose, isColored: isColored, output: output))
    }

    /// Writes the heading of the format, if it has one.
    func begin() async throws {
        guard case .programs(let format) = form, let heading = format.heading else { return }
        try await append(Array("\(heading)\n".utf8))
    }

    /// Calls `body` with a function that writes a message.
    /// - Parameter bus: the bus that knows the names of coordinators.
    func withNames(
        of bus: any EventBus, _ body: (_ show: @escaping @Sendable (Envelope) async throws -> Void) async throws -> Void
    ) async throws {
        switch form {
        case .people(let format):
            let directory = try await CoordinatorDirectory(of: bus)
            try await body { message in
                try await output.append(format.lines(of: message, await directory.names(with: message)))
            }
        case .programs(let format):
            try await body { message in
                var lines: [UInt8] = []
                try format.write(message, to: &lines)
                try await append(lines)
            }
        }
    }

    /// Writes lines of a format for programs. On a terminal, control characters are removed or replaced by spaces.
    private func append(_ lines: [UInt8]) async throws {
        guard output.isTerminal else { return try await output.append(lines) }
        let text = String(decoding: lines.dropLast(), as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        try await output.append(text.map { String($0).printable + "\n" }.joined().utf8)
    }
}

/// The format for people: one line for each message, cut to the width of the terminal. If verbose, lines are not cut,
/// and further attributes follow on lines of their own.
struct TerminalFormat {
    let verbose: Bool
    let isColored: Bool
    let output: Console
    private let pretty = PrettyFormat()

    /// The lines, each with a newline.
    func lines(of message: Envelope, _ names: CoordinatorNames) -> [UInt8] {
        // The width is read for each message because the user may resize the window.
        let columns = verbose ? nil : output.columns
        return ([pretty.line(message, names)] + (verbose ? pretty.details(message, names) : [])).flatMap { line in
            Array("\(line.rendered(isColored: isColored, columns: columns))\n".utf8)
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
