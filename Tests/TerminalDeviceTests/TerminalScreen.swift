import Testing

/// The screen of a terminal: what a person sees after some output. It knows the control sequences that a device writes,
/// as in ECMA-48 and xterm's "ctlseqs".
struct TerminalScreen {
    private let columns: Int
    private let height: Int
    private var rows: [[Character]]
    private var row = 0
    private var column = 0
    private var saved = (row: 0, column: 0)

    init(columns: Int, rows: Int) {
        self.columns = columns
        height = rows
        self.rows = Array(repeating: [], count: rows)
    }

    /// The rows without the blanks at their ends, up to the last row that is not empty. The row of the cursor reaches up
    /// to the cursor.
    var text: String {
        let texts = rows.enumerated().map { number, characters in
            let text = String(characters)
            let end = text.lastIndex { $0 != " " }.map { text.distance(from: text.startIndex, to: $0) + 1 } ?? 0
            let length = number == row ? max(end, column) : end
            return String(text.prefix(length)) + String(repeating: " ", count: max(length - text.count, 0))
        }
        let last = texts.lastIndex { !$0.isEmpty } ?? 0
        return texts[...last].joined(separator: "\n")
    }

    /// Shows the output of a program, and the echo of a person's keys.
    mutating func write(_ output: String) {
        var rest = Substring(output)
        while let character = rest.popFirst() {
            switch character {
            case "\n", "\r\n": newLine()
            case "\u{1B}": escape(&rest)
            default: put(character)
            }
        }
    }

    private mutating func put(_ character: Character) {
        if column == columns { newLine() }
        while rows[row].count <= column { rows[row].append(" ") }
        rows[row][column] = character
        column += 1
    }

    private mutating func newLine() {
        column = 0
        row += 1
        guard row == rows.count else { return }
        row -= 1
        deleteRows(1, at: 0)
    }

    private mutating func insertRows(_ count: Int, at row: Int) {
        rows.insert(contentsOf: Array(repeating: [], count: count), at: row)
        rows.removeLast(rows.count - height)
    }

    private mutating func deleteRows(_ count: Int, at row: Int) {
        rows.removeSubrange(row..<min(row + count, rows.count))
        rows += Array(repeating: [], count: height - rows.count)
    }

    private mutating func escape(_ rest: inout Substring) {
        switch rest.popFirst() {
        case "7": saved = (row, column)
        case "8": (row, column) = saved
        case "]":
            // An OSC sequence, such as a link, ends with ESC \.
            while let character = rest.popFirst(), character != "\u{1B}" {}
            rest = rest.dropFirst()
        case "[":
            let parameters = rest.prefix { $0.isNumber || $0 == ";" }
            rest = rest[parameters.endIndex...]
            control(rest.popFirst(), parameters.split(separator: ";").map { Int($0) ?? 1 })
        case let other: Issue.record("the screen does not know ESC \(other.map(String.init) ?? "")")
        }
    }

    private mutating func control(_ final: Character?, _ parameters: [Int]) {
        let first = parameters.first ?? 1
        switch final {
        case "H": (row, column) = (min(first, rows.count) - 1, (parameters.dropFirst().first ?? 1) - 1)
        case "A": row = max(row - first, 0)
        case "B": row = min(row + first, rows.count - 1)
        case "J": rows = Array(repeating: [], count: rows.count)
        case "K": rows[row] = []
        case "L": insertRows(first, at: row)
        case "M": deleteRows(first, at: row)
        case "m": break
        case let other: Issue.record("the screen does not know CSI \(other.map(String.init) ?? "")")
        }
    }
}
