internal import Contracts
internal import Presentation

extension TerminalScreen {
    /// The screen as text, from top to bottom.
    ///
    /// - Parameter size: Room for it; lists that are too long are cut, and say so. nil: there is room for all.
    package func lines(fitting size: TerminalSize? = nil) -> [String] {
        let width = size?.columns ?? Int.max
        let blocks = blocks(width: width)
        let notes = bannerLines(width: width) + waitingLines
        let fixed = 2 + notes.count + blocks.reduce(0) { $0 + $1.fixedCount }
        let lists = blocks.flatMap { [$0.rows.count, $0.choices.count] }
        let shares = size.map { Self.shares(of: $0.rows - fixed, among: lists) } ?? lists
        var lines = [platform] + notes
        for (index, block) in blocks.enumerated() {
            lines += block.lines(rows: shares[2 * index], choices: shares[2 * index + 1])
        }
        return (lines + [keys]).map { $0.printable.truncated(to: width) }
    }

    private func bannerLines(width: Int) -> [String] {
        guard let banner else { return [] }
        let waiting = banner.waiting > 0 ? " (\(banner.waiting) more)" : ""
        return ([banner.message, banner.recovery].compactMap(\.self).joined(separator: " · ") + waiting).printable
            .wrapped(to: width - 4)
            .map { "\(banner.severity == .info ? "(i)" : "(!)") \($0)" }
    }

    private var waitingLines: [String] {
        waiting.map { ["… waiting for an answer to \($0)"] } ?? []
    }

    private var keys: String {
        [
            back.map { _ in "b back" }, dismissal.map { _ in "d dismiss" },
            bannerDismissal.map { _ in "x dismiss the error" }, "q quit",
        ].compactMap(\.self).joined(separator: "   ")
    }

    private func blocks(width: Int) -> [Block] {
        var number = 0
        var blocks = layers.map { layer in
            let numbered = Self.numbered(layer.choices, after: number)
            number += layer.choices.count
            // What is covered is there, but neither to be read nor touched.
            let rows = layer.isCovered ? [] : layer.content.rows
            return Block(
                frame: layer.frame, title: layer.isCovered ? "\(layer.content.title) …" : layer.content.title,
                rows: rows.flatMap { $0.printable.wrapped(to: width - 4) }, choices: numbered)
        }
        let tabs = Array(choices[number...])
        blocks.indices.last.map { blocks[$0].choices += Self.numbered(tabs, after: number) }
        return blocks
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
