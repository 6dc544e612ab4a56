internal import ArgumentParser
internal import Monitor

/// The options that select the format in which messages are printed.
struct PrintOptions: ParsableArguments, Sendable {
    @Flag(help: "Print one JSON object per line, with all attributes.")
    var json = false

    @OptionGroup var field: FieldOptions

    @Flag(help: "Print comma-separated values, with a column for each --field.")
    var csv = false

    @Flag(help: "Print only the data, as it was published, one message per line.")
    var raw = false

    @Option(
        help: ArgumentHelp(
            "Print a line in this format, such as '{time} {type} {data.url}'; '{{' prints a brace.",
            valueName: "format"))
    var template: String?

    @Option(help: ArgumentHelp("Print in colour: auto (only on a terminal), always or never.", valueName: "when"))
    var color = ColorChoice.auto

    /// The columns of `--csv` without `--field`.
    private static let columns = [
        "position.offset", "time", "type", "key", "subject", "source", "id", "correlationid", "data",
    ]

    func validate() throws {
        guard forms.count < 2 else { throw ValidationError("\(forms[0]) and \(forms[1]) exclude each other") }
        _ = try format
    }

    /// The given options that select a format. After validation there is at most one.
    var forms: [String] {
        [
            ("--json", json), ("--raw", raw), ("--csv", csv), ("--template", template != nil),
            ("--field", !field.paths.isEmpty && !csv),
        ].filter(\.1).map(\.0)
    }

    /// True if an option of the command line selects a part of each message to print.
    var choosesPart: Bool { !forms.isEmpty && !json }

    /// The selected format. Nil if no option selects a format; then messages are printed for people.
    /// - Throws: `ValidationError` with the column of a syntax error.
    var format: (any MessageFormat)? {
        get throws {
            if json { return CloudEventFormat() }
            if raw { return RawFormat() }
            if csv { return CSVFormat(try FieldOptions.read(field.paths.isEmpty ? Self.columns : field.paths)) }
            if let fields = try field.format { return fields }
            return try template.map { text in
                try ValidationError.naming("--template") { () throws(SyntaxMistake) in try TemplateFormat(text) }
            }
        }
    }

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

/// The option that selects values of a message to print.
struct FieldOptions: ParsableArguments, Sendable {
    @Option(
        name: .customLong("field"),
        help: ArgumentHelp("Print only the value at this path, such as data.url; may be repeated.", valueName: "path"),
        completion: .messagePaths)
    var paths: [String] = []

    func validate() throws {
        _ = try format
    }

    /// Nil if the option is not given.
    /// - Throws: `ValidationError` with the column of a syntax error.
    var format: FieldFormat? {
        get throws { paths.isEmpty ? nil : FieldFormat(try Self.read(paths)) }
    }

    static func read(_ texts: [String]) throws -> [MessagePath] {
        try texts.map { text in
            try ValidationError.naming("--field") { () throws(SyntaxMistake) in try MessagePath(text) }
        }
    }
}

/// The values of `--color`.
enum ColorChoice: String, CaseIterable, Sendable, ExpressibleByArgument {
    case auto, always, never
}

extension Console {
    func isColored(_ choice: ColorChoice) -> Bool {
        switch choice {
        case .auto: isColored
        case .always: true
        case .never: false
        }
    }
}
