/// The lines of one layer, before those that are too many are cut.
struct Block {
    var frame: Layer.Frame
    var title: String
    var rows: [String]
    var choices: [String]

    /// How many lines it has besides its rows and choices.
    var fixedCount: Int {
        switch frame {
        case .none, .column: 2
        case .presented: 4
        }
    }

    /// - Parameters:
    ///   - rows: room for as many rows.
    ///   - choices: room for as many choices.
    func lines(rows rowLimit: Int, choices choiceLimit: Int) -> [String] {
        let lists =
            rows.elided(to: rowLimit) { "… \($0) more" }
            + choices.elided(to: choiceLimit) { "… \($0) more, by number or name" }
        switch frame {
        case .none:
            return ["", title] + lists.map { "  \($0)" }
        case .column(let name):
            return ["── \(name) ──", title] + lists.map { "  \($0)" }
        case .presented(let style):
            return ["", "┌─ \(style) ──", "│ \(title)"] + lists.map { "│   \($0)" } + ["└──"]
        }
    }
}
