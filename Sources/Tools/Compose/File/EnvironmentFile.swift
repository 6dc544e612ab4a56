import Support

/// A file of `KEY=value` lines in the format of `env_file` in the compose specification.
struct EnvironmentFile {
    enum Format {
        case standard
        /// Values are used literally, with their quotes and dollar signs.
        case raw
    }

    let name: String
    let findings: ComposeFindings

    /// Reads the variables of a file's text, and reports its mistakes.
    ///
    /// - Parameters:
    ///   - environment: the values of variable references, and of keys without a value.
    ///   - earlier: the variables of the files before this file. Values may refer to these variables, too.
    /// - Returns: the values by name; nil for a name without a value that is set neither in the environment nor before
    ///   its line, and for an invalid value.
    func variables(
        in text: String, format: Format = .standard, environment: ComposeEnvironment, earlier: [String: String] = [:]
    ) -> [String: String?] {
        let text = text.lines.joined(separator: "\n").replacing(scalars: "\u{FEFF}", with: "")
        var scope = environment.fillingIn(earlier, from: name)
        var variables: [String: String?] = [:]
        for entry in format == .raw ? rawEntries(text) : entries(text) {
            let value = value(of: entry, environment: scope)
            variables[entry.name] = .some(value)
            // In references, the environment takes precedence over the file.
            if environment[entry.name] == nil { scope.set(entry.name, to: value, from: name) }
        }
        return variables
    }

    private func value(of entry: EnvironmentFileScanner.Entry, environment: ComposeEnvironment) -> String? {
        switch entry.value {
        case nil: return environment[entry.name]
        case .literal(let text): return text
        case .template(let text):
            findings.record(variablesIn: text, of: environment)
            var interpolation = Interpolation(environment: environment)
            do {
                let value = try interpolation.expand(text)
                findings.record(unset: interpolation.unset)
                return value
            } catch {
                report(
                    "'\(entry.name)': \(error.message)", line: entry.line,
                    recovery: "in single quotes dollar signs are literal")
                return nil
            }
        }
    }

    private func entries(_ text: String) -> [EnvironmentFileScanner.Entry] {
        var scanner = EnvironmentFileScanner(text)
        var entries: [EnvironmentFileScanner.Entry] = []
        while let result = scanner.next() {
            switch result {
            case .success(let entry): entries.append(entry)
            case .failure(let mistake):
                report(mistake.message, line: mistake.line, recovery: "write lines as KEY=value")
            }
        }
        return entries
    }

    private func rawEntries(_ text: String) -> [EnvironmentFileScanner.Entry] {
        text.lines.enumerated().compactMap { index, line in
            guard let first = line.unicodeScalars.first, first != "#" else { return nil }
            let parts = line.split(scalar: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count > 1 ? EnvironmentFileScanner.Value.literal(String(parts[1])) : nil
            return .init(name: String(parts[0]), value: value, line: index + 1)
        }
    }

    private func report(_ message: String, line: Int, recovery: String) {
        findings.report(message, at: ComposeLocation(file: name, line: line), recovery: recovery)
    }
}

/// Splits an env file into variables. A mistake contains the number of the line and not its text, because the text may
/// be secret.
private struct EnvironmentFileScanner {
    enum Value: Equatable {
        case literal(String)
        /// The value can contain variable references.
        case template(String)
    }

    struct Entry: Equatable {
        let name: String
        /// Nil if the line contains only a name.
        let value: Value?
        let line: Int
    }

    struct Mistake: Error, Equatable {
        let message: String
        let line: Int
    }

    private var scalars: Substring.UnicodeScalarView
    private var line = 1
    /// The line in which the current entry begins.
    private var start = 1

    /// - Parameter text: the text of the file, with lines that end with a line feed and no carriage return.
    init(_ text: String) {
        scalars = text[...].unicodeScalars
    }

    /// The next variable or mistake; nil at the end of the text.
    mutating func next() -> Result<Entry, Mistake>? {
        skip(while: Self.isBlankOrEnd)
        while scalars.first == "#" {
            skip(while: Self.isOfLine)
            skip(while: Self.isBlankOrEnd)
        }
        guard !scalars.isEmpty else { return nil }
        start = line
        do {
            return .success(try entry())
        } catch {
            skip(while: Self.isOfLine)
            return .failure(error)
        }
    }

    private mutating func entry() throws(Mistake) -> Entry {
        skipExport()
        let name = consume { "_.-".unicodeScalars.contains($0) || $0.isASCIILetter || $0.isASCIIDigit }
        guard let first = name.unicodeScalars.first, first == "_" || first.isASCIILetter else {
            throw mistake("the line does not begin with a variable's name")
        }
        skip(while: Self.isBlank)
        guard scalars.first == "=" else {
            try endLine(after: "the name")
            return Entry(name: name, value: nil, line: start)
        }
        scalars.removeFirst()
        let isAfterBlank = scalars.first.map(Self.isBlank) ?? false
        skip(while: Self.isBlank)
        return Entry(name: name, value: try value(isAfterBlank: isAfterBlank), line: start)
    }

    /// Skips the word `export` before a variable's name.
    private mutating func skipExport() {
        guard let rest = Substring(scalars).removing(prefix: "export")?.unicodeScalars else { return }
        let name = rest.drop(while: Self.isBlank)
        // A variable can be named `export`, too.
        if name.startIndex != rest.startIndex, name.first != "=" { scalars = name }
    }

    private mutating func value(isAfterBlank: Bool) throws(Mistake) -> Value {
        guard let scalar = scalars.first, scalar == "'" || scalar == "\"" else {
            return .template(unquoted(isAfterBlank: isAfterBlank))
        }
        scalars.removeFirst()
        let text = try quoted(scalar)
        try endLine(after: "the closing quote")
        return scalar == "'" ? .literal(text) : .template(text)
    }

    /// Reads a value without quotes. A `#` begins a comment only after a blank, so `COLOR=#ff0000` has a value.
    private mutating func unquoted(isAfterBlank: Bool) -> String {
        let scalars = consume(while: Self.isOfLine).unicodeScalars
        if isAfterBlank, scalars.first == "#" { return "" }
        let comment = scalars.indices.dropFirst().first { index in
            scalars[index] == "#" && Self.isBlank(scalars[scalars.index(before: index)])
        }
        var value = scalars[..<(comment ?? scalars.endIndex)]
        while let last = value.last, Self.isBlank(last) { value.removeLast() }
        return String(value)
    }

    /// Reads to the closing quote, which may be in a later line.
    private mutating func quoted(_ closingScalar: Unicode.Scalar) throws(Mistake) -> String {
        var text = ""
        while let scalar = pop() {
            if scalar == closingScalar { return text }
            guard scalar == "\\", let escaped = scalars.first else {
                text.unicodeScalars.append(scalar)
                continue
            }
            let meant = (closingScalar == "'" ? Self.literalEscapes : Self.escapes)[escaped]
            if meant != nil { _ = pop() }
            text += meant ?? "\\"
        }
        throw mistake("a quote that begins here is not closed")
    }

    /// The escapes within single quotes. Two backslashes remain two, but the second does not escape a quote.
    private static let literalEscapes: [Unicode.Scalar: String] = ["'": "'", "\\": "\\\\"]

    /// The escapes within double quotes. An escaped dollar sign becomes `$$`, so that it does not begin a variable.
    private static let escapes: [Unicode.Scalar: String] = [
        "n": "\n", "r": "\r", "t": "\t", "\\": "\\", "\"": "\"", "$": "$$",
    ]

    private mutating func endLine(after what: String) throws(Mistake) {
        skip(while: Self.isBlank)
        if scalars.first == "#" { skip(while: Self.isOfLine) }
        guard scalars.isEmpty || scalars.first == "\n" else { throw mistake("unexpected text after \(what)") }
    }

    private func mistake(_ message: String) -> Mistake { Mistake(message: message, line: start) }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }

    private static func isBlankOrEnd(_ scalar: Unicode.Scalar) -> Bool { isBlank(scalar) || scalar == "\n" }

    private static func isOfLine(_ scalar: Unicode.Scalar) -> Bool { scalar != "\n" }

    private mutating func consume(while belongs: (Unicode.Scalar) -> Bool) -> String {
        var text = String.UnicodeScalarView()
        while let scalar = scalars.first, belongs(scalar) {
            text.append(scalar)
            _ = pop()
        }
        return String(text)
    }

    private mutating func skip(while belongs: (Unicode.Scalar) -> Bool) {
        _ = consume(while: belongs)
    }

    private mutating func pop() -> Unicode.Scalar? {
        let scalar = scalars.popFirst()
        if scalar == "\n" { line += 1 }
        return scalar
    }
}
