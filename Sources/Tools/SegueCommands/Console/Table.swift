internal import Support

/// A table for people. Each column is as wide as its widest cell. The text of cells is made printable.
struct Table {
    private var rows: [[String]]
    private let firstNumber: Int

    /// - Parameter firstNumber: the index of the first column that contains numbers. This column and all later columns
    ///   are aligned right. By default, no column is aligned right.
    init(_ header: String..., numbersFrom firstNumber: Int = .max) {
        self.init(header: header, numbersFrom: firstNumber)
    }

    init(header: [String], numbersFrom firstNumber: Int = .max) {
        rows = [header.map(\.printable)]
        self.firstNumber = firstNumber
    }

    mutating func append(_ row: String...) {
        append(row: row)
    }

    /// - Parameter row: As many cells as the header has.
    mutating func append(row: [String]) {
        rows.append(row.map(\.printable))
    }

    /// True if there are no rows after the header.
    var isEmpty: Bool { rows.count == 1 }

    var lines: [String] {
        let widths = rows.reduce(into: [Int](repeating: 0, count: rows[0].count)) { widths, row in
            for (index, cell) in row.enumerated() { widths[index] = max(widths[index], cell.count) }
        }
        return rows.map { row in
            let cells = zip(row, widths).enumerated().map { index, column in
                let (cell, width) = column
                return index < firstNumber
                    ? cell.padding(to: width) : String(repeating: " ", count: width - cell.count) + cell
            }
            var scalars = cells.joined(separator: "  ").unicodeScalars
            while scalars.last == " " { scalars.removeLast() }
            return String(scalars)
        }
    }
}

extension String {
    func padding(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
