internal import Support

/// A flow file in which forms of today replace old forms of the language. Comments and layout stay.
///
/// Two kinds of forms are replaced: those of ``OldForm``, which have the same meaning as before, and `$${data.x}`, which
/// was a dollar sign before a value and is now a text.
package struct FlowMigration {
    /// The new content of the file.
    package let yaml: String
    /// The replaced forms, in the order of the file.
    package let changes: [FlowFinding]

    /// - Throws: ``FlowError`` if the flow has errors, or if a form cannot be replaced.
    package init(of reading: FlowReading) throws(FlowError) {
        guard let flow = reading.flow, reading.findings.isEmpty else { throw FlowError(findings: reading.findings) }
        var scalars = Array(reading.yaml.unicodeScalars)
        let lines = Self.lineStarts(in: scalars)
        var changes = reading.oldForms.map { form in
            FlowFinding(
                source: reading.file, line: form.edits.first?.line, column: form.edits.first?.column, severity: .note,
                message: form.message)
        }
        var edits: [(index: Int, length: Int, text: String)] = []
        for edit in reading.oldForms.flatMap(\.edits) {
            guard let line = edit.line, let column = edit.column, lines.indices.contains(line - 1),
                case let index = lines[line - 1] + column - 1,
                scalars[min(index, scalars.endIndex)...].starts(with: edit.word.unicodeScalars)
            else {
                throw Self.refusal(
                    "'\(edit.word)' cannot be replaced; write '\(edit.replacement)' by hand", edit, reading)
            }
            edits.append((index, edit.word.unicodeScalars.count, edit.replacement))
        }
        // In a file that accepts the warning about them, dollar signs were written for today's meaning.
        if !reading.yaml.contains(scalars: "allow escaped-template") {
            for index in Self.dollarSigns(in: scalars) {
                let line = lines.lastIndex { $0 <= index } ?? 0
                changes.append(
                    FlowFinding(
                        source: reading.file, line: line + 1, column: index - lines[line] + 1, severity: .note,
                        message: "'$${' begins a text; write '$$${' for a dollar sign before a value"))
                edits.append((index, 0, "$"))
            }
        }
        for edit in edits.sorted(by: { $0.index > $1.index }) {
            scalars.replaceSubrange(edit.index..<(edit.index + edit.length), with: edit.text.unicodeScalars)
        }
        yaml = String(String.UnicodeScalarView(scalars))
        self.changes = changes.sorted { ($0.line ?? 0, $0.column ?? 0) < ($1.line ?? 0, $1.column ?? 0) }
        let new = FlowReading(yaml: yaml, file: reading.file)
        let hasEscapes = edits.contains { $0.length == 0 }
        guard new.findings.isEmpty, new.oldForms.isEmpty,
            new.flow?.json == (hasEscapes ? Self.withDollarSigns(flow.json) : flow.json)
        else {
            let message =
                "the old forms of this file cannot be replaced; see 'segue flow check', and write them by hand"
            throw FlowError(findings: [FlowFinding(source: reading.file, message: message)])
        }
    }

    private static func refusal(_ message: String, _ edit: OldForm.Edit, _ reading: FlowReading) -> FlowError {
        FlowError(
            findings: [FlowFinding(source: reading.file, line: edit.line, column: edit.column, message: message)])
    }

    /// The index of the first scalar of each line.
    private static func lineStarts(in scalars: [Unicode.Scalar]) -> [Int] {
        [0] + scalars.indices.filter { scalars[$0] == "\n" }.map { $0 + 1 }
    }

    /// The indices of exactly two dollar signs before a placeholder of a known scope.
    private static func dollarSigns(in scalars: [Unicode.Scalar]) -> [Int] {
        let scopes = (Template.Scope.allCases.map(\.rawValue) + ["url"]).map { Array("$${\($0).".unicodeScalars) }
        return scalars.indices.filter { index in
            scalars[index] == "$" && (index == 0 || scalars[index - 1] != "$")
                && scopes.contains { scalars[index...].starts(with: $0) }
        }
    }

    private static func withDollarSigns(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text):
            var scalars = Array(text.unicodeScalars)
            for index in dollarSigns(in: scalars).reversed() { scalars.insert("$", at: index) }
            return .string(String(String.UnicodeScalarView(scalars)))
        case .array(let elements): return .array(elements.map(withDollarSigns))
        case .object(let members): return .object(members.mapValues(withDollarSigns))
        default: return value
        }
    }
}
