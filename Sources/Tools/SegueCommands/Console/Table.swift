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

    /// A table with a line for each row of a list.
    init<Row: ListRow>(of rows: [Row], numbersFrom firstNumber: Int = .max) {
        let columns = Row.columns
        self.init(header: columns.map(\.name), numbersFrom: firstNumber)
        for row in rows { append(row: columns.map { $0.cell(row) }) }
    }

    mutating func append(_ row: String...) {
        append(row: row)
    }

    /// - Parameter row: As many cells as the header has.
    mutating func append(row: [String]) {
        rows.append(row.map(\.printable))
    }

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

/// A row of a list.
protocol ListRow {
    static var columns: [Column<Self>] { get }
}

/// A column of a list: its name, and its cell in a row.
struct Column<Row> {
    let name: String
    let cell: (Row) -> String
}

extension String {
    func padding(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
