internal import Contracts
internal import Presentation

extension TerminalScreen {
    /// The screen as text, from top to bottom.
    ///
    /// - Parameter size: Room for it; lists that are too long are cut, and say so. nil: there is room for all.
    package func lines(fitting size: TerminalSize? = nil) -> [String] {
        drawnLines(fitting: size).map(\.text)
    }

    /// The same with its links.
    ///
    /// URLs are never cut, so that it may have more lines than there is room for: the terminal then scrolls, and all of
    /// them can be read.
    func drawnLines(fitting size: TerminalSize?) -> [Line] {
        let width = size?.columns ?? Int.max
        let blocks = blocks(width: width)
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
        waiting.map { [Line("… waiting for an answer to \($0)")] } ?? []
    }

    /// As many keys on a line as fit.
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

    private func blocks(width: Int) -> [Block] {
        var number = 0
        return layers.enumerated().map { index, layer in
            // The tabs come after the choices of the last layer.
            let offered = index == layers.count - 1 ? Array(choices[number...]) : layer.choices
            defer { number += layer.choices.count }
            return Block(layer, choices: Self.numbered(offered, after: number), width: width)
        }
    }

    private static func numbered(_ choices: [Choice], after number: Int) -> [String] {
        choices.enumerated().map { "[\(number + $0.offset + 1)] \($0.element.label)" }
    }

    /// Gives each list what it needs, and equal parts to those that need more than there is.
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
