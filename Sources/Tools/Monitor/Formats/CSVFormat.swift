package import EventBus

/// A table for spreadsheets: a column for each path, quoted as RFC 4180 says. Lines end as everywhere on this system, which
/// readers of CSV take as well.
package struct CSVFormat: MessageFormat {
    private let columns: [MessagePath]

    package init(_ columns: [MessagePath]) {
        self.columns = columns
    }

    package var heading: String? { line(columns.map(\.description)) }

    package func write(_ message: Envelope, to lines: inout [UInt8]) {
        let values = MessageValues(message)
        lines.append(line: line(columns.map(values.text(at:))))
    }

    private func line(_ cells: [String]) -> String {
        cells.map(Self.quoted).joined(separator: ",")
    }

    private static func quoted(_ cell: String) -> String {
        // Looked at by scalars: as a Character, "\r\n" is neither.
        let isPlain = !cell.unicodeScalars.contains { "\",\r\n".unicodeScalars.contains($0) }
        return isPlain ? cell : "\"\(cell.replacing("\"", with: "\"\""))\""
    }
}
