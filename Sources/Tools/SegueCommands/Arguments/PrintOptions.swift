internal import ArgumentParser
internal import Monitor

/// How messages are written.
struct PrintOptions: ParsableArguments, Sendable {
    @Flag(help: "One JSON object a line, with all attributes.")
    var json = false

    @Option(
        name: .customLong("field"),
        help: ArgumentHelp("Only the value at this path, as in data.url; may be repeated.", valueName: "path"),
        completion: .messagePaths)
    var fields: [String] = []

    @Flag(help: "A table for spreadsheets, with a column for each --field.")
    var csv = false

    @Flag(help: "Only the data, as it was published, a line each.")
    var raw = false

    @Option(
        help: ArgumentHelp(
            "A line drawn up of values, as in '{time} {type} {data.url}'; '{{' is a brace.", valueName: "text"))
    var template: String?

    @Option(help: ArgumentHelp("Whether to write in colour: auto, always or never.", valueName: "when"))
    var color = ColorChoice.auto

    /// What a table has when no field is named.
    private static let columns = [
        "position.offset", "time", "type", "key", "subject", "source", "id", "correlationid", "data",
    ]

    func validate() throws {
        guard forms.count < 2 else { throw ValidationError("\(forms[0]) and \(forms[1]) exclude each other") }
        _ = try format
    }

    /// The options that say in which form to write; one, once they are validated.
    var forms: [String] {
        [
            ("--json", json), ("--raw", raw), ("--csv", csv), ("--template", template != nil),
            ("--field", !fields.isEmpty && !csv),
        ].filter(\.1).map(\.0)
    }

    /// Whether it is said which part of a message to write.
    var choosesPart: Bool { !forms.isEmpty && !json }

    /// `nil` for what a person reads.
    /// - Throws: `ValidationError` that names the column of a mistake.
    var format: (any MessageFormat)? {
        get throws {
            if json { return CloudEventFormat() }
            if raw { return RawFormat() }
            if csv { return CSVFormat(try paths(fields.isEmpty ? Self.columns : fields)) }
            if !fields.isEmpty { return FieldFormat(try paths(fields)) }
            return try template.map { text in
                try ValidationError.naming("--template") { () throws(SyntaxMistake) in try TemplateFormat(text) }
            }
        }
    }

    private func paths(_ texts: [String]) throws -> [MessagePath] {
        try texts.map { text in
            try ValidationError.naming("--field") { () throws(SyntaxMistake) in try MessagePath(text) }
        }
    }
}

/// Whether to write in colour.
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
