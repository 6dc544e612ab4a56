internal import ArgumentParser
internal import Monitor
internal import Support

/// The option that prints rows for programs instead of people.
struct OutputOptions: ParsableArguments, Sendable {
    @Flag(help: "Print one JSON object per line.")
    var json = false
}

/// The options that select the format in which the data of a message is printed.
struct DataOptions: ParsableArguments, Sendable {
    @Flag(help: "Print the JSON as it was published, on one line.")
    var json = false

    @OptionGroup var field: FieldOptions

    func validate() throws {
        guard !json || field.paths.isEmpty else { throw ValidationError("--json and --field exclude each other") }
    }

    /// - Throws: `ValidationError` with the column of a syntax error in `--field`.
    var printer: DataPrinter {
        get throws { DataPrinter(json: json, field: try field.format) }
    }
}

/// A column of a list: its name, and its cell in a row.
struct Column<Row> {
    let name: String
    let cell: (Row) -> String
}

/// A row of a list.
protocol ListRow {
    static var columns: [Column<Self>] { get }
}

extension Table {
    init<Row: ListRow>(of rows: [Row]) {
        self.init(header: Row.columns.map(\.name))
        for row in rows { append(row: Row.columns.map { $0.cell(row) }) }
    }
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
