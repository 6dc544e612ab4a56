internal import Presentation

/// The lines of one layer, before those that are too many are cut.
struct Block {
    let frame: Layer.Frame
    private let title: [Line]
    private let rows: [[Line]]
    private let choices: [[Line]]

    /// - Parameters:
    ///   - choices: with their numbers.
    ///   - width: room for each line.
    init(_ layer: Layer, choices: [String], width: Int) {
        frame = layer.frame
        // What is covered is there, but neither to be read nor touched.
        let rows = layer.isCovered ? [] : layer.content.rows
        let room = width - frame.listIndent.count
        title = Line(layer.isCovered ? "\(layer.content.title) …" : layer.content.title)
            .fitted(to: width - frame.titleIndent.count)
        self.rows = rows.flatMap { row in
            let lines = Line(row).wrapped(to: width - 4)
            // Of a long text a part may be shown, of a URL only all of it.
            return lines.contains { $0.lastURL != nil } ? [lines] : lines.map { [$0] }
        }
        self.choices = choices.map { Line($0).fitted(to: room) }
    }

    /// How many lines its lists need: of rows, and of choices.
    var lists: [Int] { [rows.lineCount, choices.lineCount] }

    /// How many lines it has besides its rows and choices.
    var fixedCount: Int {
        switch frame {
        case .none, .column: 1 + title.count
        case .presented: 3 + title.count
        }
    }

    /// - Parameters:
    ///   - rows: room for as many lines of rows.
    ///   - choices: room for as many lines of choices.
    func lines(rows rowLimit: Int, choices choiceLimit: Int) -> [Line] {
        let lists =
            rows.elided(to: rowLimit) { "… \($0) more" }
            + choices.elided(to: choiceLimit) { "… \($0) more, by number or name" }
        let body = title.map { frame.titleIndent + $0 } + lists.map { frame.listIndent + $0 }
        switch frame {
        case .none: return [Line("")] + body
        case .column(let name): return [Line("── \(name) ──")] + body
        case .presented(let style): return [Line(""), Line("┌─ \(style) ──")] + body + [Line("└──")]
        }
    }
}

extension Layer.Frame {
    fileprivate var titleIndent: String {
        if case .presented = self { "│ " } else { "" }
    }

    fileprivate var listIndent: String {
        if case .presented = self { "│   " } else { "  " }
    }
}
