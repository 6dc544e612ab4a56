internal import ArgumentParser
internal import Support

/// The option that prints rows for programs instead of people.
struct OutputOptions: ParsableArguments, Sendable {
    @Flag(help: "Print one JSON object per line.")
    var json = false
}

extension Console {
    /// Writes a list: a JSON object for each row, or a table.
    ///
    /// - Parameter empty: the message on standard error that replaces a table without rows. If it is nil, a table
    ///   without rows has its header.
    func writeList<Row: ListRow & Encodable>(_ rows: [Row], asJSON: Bool, empty: String? = nil) async throws {
        if asJSON { return try await writeLines(rows.map { try JSONValue(encoding: $0).description }) }
        if rows.isEmpty, let empty { return await Console.error.tell(empty) }
        try await writeLines(Table(of: rows).lines)
    }

    /// Writes a value as a JSON object on one line, or the text for people.
    func writeLine(_ value: some Encodable, asJSON: Bool, text: @autoclosure () -> String) async throws {
        try await writeLine(asJSON ? JSONValue(encoding: value).description : text())
    }
}
