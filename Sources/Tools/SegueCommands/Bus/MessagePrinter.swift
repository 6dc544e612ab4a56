internal import EventBus
internal import Foundation
internal import Monitor

/// Writes messages to standard output, for a person or for a program.
struct MessagePrinter: Sendable {
    private let format: any MessageFormat
    private let output = Console.output
    /// A file gets what there is; a terminal nothing that it would obey.
    private let isCleaned: Bool

    /// - Parameter verbose: for a person, whole lines, and all attributes.
    /// - Throws: `ValidationError`.
    init(_ options: PrintOptions, verbose: Bool = false) throws {
        let isColored = Console.output.isColored(options.color)
        let chosen = try options.format
        format = chosen ?? TerminalFormat(verbose: verbose, isColored: isColored, output: output)
        isCleaned = chosen != nil && output.isTerminal
    }

    /// Writes what stands above the messages.
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
