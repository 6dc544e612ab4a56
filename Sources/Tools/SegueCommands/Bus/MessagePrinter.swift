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
        try await output.append(Array("\(heading)\n".utf8))
    }

    /// Calls `body` with a function that writes a message.
    /// - Parameter bus: the bus that knows the names of coordinators.
    func withNames(
        of bus: EventBus, _ body: (_ show: @escaping @Sendable (Envelope) async throws -> Void) async throws -> Void
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
                try await output.append(lines)
            }
        }
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
    func lines(of message: Envelope, _ names: CoordinatorNames) -> TerminalText {
        // The width is read for each message because the user may resize the window.
        let columns = verbose ? nil : output.columns
        return ([pretty.line(message, names)] + (verbose ? pretty.details(message, names) : [])).map {
            $0.rendered(isColored: isColored, columns: columns) + "\n"
        }.joined()
    }
}

/// Writes the data of one message to standard output.
struct DataPrinter {
    /// True to print the data on one line; false to print it indented, for people.
    let json: Bool
    /// The format of `--field`, which prints parts of a message instead of its data. Nil if it is not given.
    var field: FieldFormat?

    func show(_ message: Envelope) async throws {
        guard let field else { return try await show(message.data) }
        var lines: [UInt8] = []
        field.write(message, to: &lines)
        try await Console.output.append(lines)
    }

    func show(_ data: Data) async throws {
        try await Console.output.writeLine(text(data))
    }

    /// The data as it was published, except for the blanks between its parts. Data that is not JSON, which any program
    /// may publish: for people as text; for programs as the member `data_base64` of an object, as in a CloudEvent.
    func text(_ data: Data) -> String {
        if let text = JSONText(data) { return json ? text.description : text.indented }
        return json
            ? #"{"data_base64":"\#(data.base64EncodedString())"}"# : String(decoding: data, as: UTF8.self).printable
    }
}
