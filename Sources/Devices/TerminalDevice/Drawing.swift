internal import Contracts
internal import Device
internal import Foundation
internal import Support

extension Scene {
    /// The text of the scene's lines, from top to bottom, without links.
    ///
    /// - Parameters:
    ///   - size: The size of the terminal. Lists are shortened to fit, and a note such as `… 5 more` is added. Nil if
    ///     nothing is shortened.
    ///   - time: The time for which positions are shown.
    func lines(fitting size: TerminalSize? = nil, at time: Date = Date()) -> [String] {
        drawnLines(fitting: size, at: time).map(\.text)
    }

    /// The lines of the scene with their links.
    ///
    /// URLs are not cut, so there can be more lines than the terminal has rows.
    func drawnLines(fitting size: TerminalSize?, at time: Date) -> [Line] {
        let width = size?.columns ?? Int.max
        let blocks = blocks(width: width, isLimited: size != nil, at: time)
        let notes = bannerLines(width: width) + waitingLines
        let keys = keyLines(width: width)
        let fixed = 1 + keys.count + notes.count + blocks.reduce(0) { $0 + $1.fixedCount }
        let lists = blocks.flatMap(\.lists)
        let shares = size.map { Self.shares(of: $0.rows - fixed, among: lists) } ?? lists
        var lines = [Line(platform)] + notes
        for (index, block) in blocks.enumerated() {
            lines += block.lines(rows: shares[2 * index], choices: shares[2 * index + 1])
        }
        return (lines + keys).flatMap { $0.fitted(to: width) }
    }

    private func bannerLines(width: Int) -> [Line] {
        guard let banner else { return [] }
        let waiting = banner.waiting > 0 ? " (\(banner.waiting) more)" : ""
        return Line([banner.message, banner.recovery].compactMap(\.self).joined(separator: " · ") + waiting)
            .wrapped(to: width - 4)
            .map { (banner.severity == .info ? "(i) " : "(!) ") + $0 }
    }

    private var waitingLines: [Line] {
        waiting.map { Line("… waiting for an answer to \($0)") }
    }

    /// The keys that work on this scene, with as many on each line as fit.
    private func keyLines(width: Int) -> [Line] {
        let keys = [
            back.map { _ in "b back" }, dismissal.map { _ in "d dismiss" },
            bannerDismissal.map { _ in "x dismiss the error" }, url.map { _ in "o open the URL" }, "q quit",
        ].compactMap(\.self)
        var lines: [String] = []
        for key in keys {
            if let last = lines.last, last.count + 3 + key.count <= width {
                lines[lines.count - 1] = "\(last)   \(key)"
            } else {
                lines.append(key)
            }
        }
        return lines.map { Line($0) }
    }

    private func blocks(width: Int, isLimited: Bool, at time: Date) -> [Block] {
        var number = 0
        return layers.enumerated().map { index, layer in
            // The tabs come after the choices of the last layer.
            let offered = index == layers.count - 1 ? Array(choices[number...]) : layer.choices
            defer { number += layer.choices.count }
            return Block(
                layer, choices: Self.numbered(offered, after: number), width: width, isLimited: isLimited, at: time)
        }
    }

    private static func numbered(_ choices: [Choice], after number: Int) -> [String] {
        choices.enumerated().map { "[\(number + $0.offset + 1)] \($0.element.label)" }
    }

    /// The number of lines for each list. If there are too few lines, short lists get all the lines that they need, and
    /// the other lists share the rest equally.
    private static func shares(of total: Int, among needs: [Int]) -> [Int] {
        var shares = needs
        var left = max(total, 0)
        for (place, index) in needs.indices.sorted(by: { needs[$0] < needs[$1] }).enumerated() {
            shares[index] = min(needs[index], left / (needs.count - place))
            left -= shares[index]
        }
        return shares
    }
}

/// The lines of one layer, before its lists are shortened.
struct Block {
    let frame: Layer.Frame
    private let title: [Line]
    private let rows: [[Line]]
    private let choices: [[Line]]

    /// - Parameters:
    ///   - choices: The labels of the choices, with their numbers.
    ///   - width: The maximum width of a line, in columns. Longer lines are cut or wrapped.
    ///   - isLimited: True if there may be too little room for all rows.
    ///   - time: The time for which positions are shown.
    init(_ layer: Layer, choices: [String], width: Int, isLimited: Bool, at time: Date) {
        frame = layer.frame
        // Of a covered layer, only the title is shown.
        var rows = layer.isCovered ? [] : layer.content.lines(at: time)
        if isLimited, layer.content.firstRow > 0, rows.count > layer.content.firstRow {
            rows.replaceSubrange(..<layer.content.firstRow, with: ["… \(layer.content.firstRow) before"])
        }
        let room = width - frame.listIndent.count
        title = Line(layer.isCovered ? "\(layer.content.title) …" : layer.content.title)
            .fitted(to: width - frame.titleIndent.count)
        self.rows = rows.flatMap { row in
            let lines = Line(row).wrapped(to: width - 4)
            // A row with a URL is shown whole or not at all; of another row, the first lines may be shown.
            return lines.contains { $0.lastURL != nil } ? [lines] : lines.map { [$0] }
        }
        self.choices = choices.map { Line($0).fitted(to: room) }
    }

    /// The number of lines of all rows, and the number of lines of all choices.
    var lists: [Int] { [rows.lineCount, choices.lineCount] }

    /// The number of lines besides the rows and choices.
    var fixedCount: Int {
        switch frame {
        case .none, .column: 1 + title.count
        case .presented: 3 + title.count
        }
    }

    /// - Parameters:
    ///   - rows: The maximum number of lines for the rows. If there are more, a note replaces some of them.
    ///   - choices: The maximum number of lines for the choices. If there are more, a note replaces some of them.
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

/// The size of a terminal, in characters.
struct TerminalSize: Hashable, Sendable {
    var columns: Int
    var rows: Int
}

/// Draws scenes. On a terminal, each drawing replaces the previous drawing; otherwise, the scenes are written one after
/// the other.
///
/// On a terminal, notes stay below the scene until the person enters a line, or until the active screens change, unless
/// the message that changed them has the note's correlation id.
///
/// The line that the person is typing stays: only the lines that have changed are written, and the terminal moves the
/// prompt when their number changes. The whole screen is drawn again after the person has entered a line, which may
/// have scrolled the terminal, and when the size of the terminal changes.
struct Painter {
    private struct Note: Equatable {
        let text: String
        /// The correlation id of the message that the note is about. Nil if it is not about a message.
        let story: String?
    }

    /// Lines in the first rows of a terminal of this size, and the prompt below them.
    private struct Placed {
        let lines: [TerminalText]
        let size: TerminalSize
    }

    private static let clearScreen: TerminalText = "\u{1B}[H\u{1B}[2J"
    private static let saveCursor: TerminalText = "\u{1B}7"
    private static let restoreCursor: TerminalText = "\u{1B}8"
    private static let clearLine: TerminalText = "\u{1B}[2K"
    /// The maximum number of notes under the scene. Older notes are removed.
    private static let noteLimit = 3
    /// The maximum length of a note on a terminal, in characters. The rest is cut.
    private static let noteLengthLimit = 10_000

    /// The text that is shown while there is no scene.
    var waiting: String
    private var notes: [Note] = []
    private var lastLines: [String] = []
    /// What the terminal shows. Nil if it may be elsewhere on the terminal.
    private var placed: Placed?

    init(waiting: String) {
        self.waiting = waiting
    }

    /// Draws a scene.
    /// - Parameters:
    ///   - size: The size of the terminal. Nil if the input or the output is not a terminal. Requested URLs are then not
    ///     part of the drawing.
    ///   - time: The time for which positions are shown.
    /// - Returns: The text to write. Empty if nothing has changed, or if `size` is nil and there is no scene.
    mutating func drawing(of scene: Scene?, size: TerminalSize?, at time: Date) -> TerminalText {
        guard let size else {
            let lines = scene?.lines(at: time) ?? []
            defer { lastLines = lines }
            return lines.isEmpty || lines == lastLines ? "" : TerminalText(lines.joined(separator: "\n")) + "\n\n"
        }
        let lines = lines(of: scene, size: size, at: time)
        let old = placed
        // A higher drawing scrolls the terminal.
        placed = lines.count < size.rows ? Placed(lines: lines, size: size) : nil
        if let old, old.size == size, placed != nil { return Self.change(from: old.lines, to: lines) }
        return Self.clearScreen + lines.joined(separator: "\n") + "\n> "
    }

    /// Replaces the lines that differ. Inserting or deleting rows above the prompt moves it with what has been typed.
    private static func change(from old: [TerminalText], to new: [TerminalText]) -> TerminalText {
        let changed = new.indices.filter { $0 >= old.count || new[$0] != old[$0] }
        let growth = new.count - old.count
        if changed.isEmpty, growth == 0 { return "" }
        var text = saveCursor
        if growth > 0 { text += "\u{1B}[\(old.count + 1);1H\u{1B}[\(growth)L" }
        if growth < 0 { text += "\u{1B}[\(new.count + 1);1H\u{1B}[\(-growth)M" }
        text += changed.map { "\u{1B}[\($0 + 1);1H\(clearLine)\(new[$0])" }.joined() + restoreCursor
        if growth > 0 { text += "\u{1B}[\(growth)B" }
        if growth < 0 { text += "\u{1B}[\(-growth)A" }
        return text
    }

    /// The lines on a terminal above the prompt, with their links.
    private func lines(of scene: Scene?, size: TerminalSize, at time: Date) -> [TerminalText] {
        let below = (scene?.requestedURL.map { [Line("Open", $0)] } ?? []) + notes.map { Line($0.text) }
        let belowLines = below.flatMap { $0.wrapped(to: size.columns) }
        // The prompt needs a line as well.
        let room = TerminalSize(columns: size.columns, rows: size.rows - belowLines.count - 1)
        let lines = scene?.drawnLines(fitting: room, at: time) ?? [Line(waiting)]
        return (lines + belowLines).map(\.hyperlinked)
    }

    /// Forgets what is drawn. The end of a person's line may have scrolled the terminal.
    mutating func forgetDrawing() {
        placed = nil
        notes = []
    }

    var hasNotes: Bool { !notes.isEmpty }

    /// Adds a note. A note with the same text is replaced.
    /// - Parameter story: The correlation id of the message that the note is about. Nil if it is not about a message.
    /// - Returns: The text to write: on a terminal the drawing with the note, otherwise only the note.
    mutating func addNote(
        _ text: String, of story: String?, on scene: Scene?, size: TerminalSize?, at time: Date
    ) -> TerminalText {
        guard size != nil else { return "\(text)\n" }
        let note = Note(text: String(text.prefix(Self.noteLengthLimit)), story: story)
        notes = (notes.filter { $0.text != note.text } + [note]).suffix(Self.noteLimit)
        return drawing(of: scene, size: size, at: time)
    }

    /// Removes the notes without this correlation id.
    mutating func removeNotes(exceptOf story: String?) {
        notes.removeAll { $0.story == nil || $0.story != story }
    }
}
