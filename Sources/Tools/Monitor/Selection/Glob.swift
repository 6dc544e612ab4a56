/// A pattern in which `*` stands for any text, `?` for any one character, and all else for itself.
///
/// It takes at most the product of both lengths. To fnmatch(3) brackets are signs as well, and without a locale `?` is a byte.
package struct Glob: Hashable, Sendable {
    private let pattern: [Character]

    package init(_ pattern: String) {
        self.pattern = Array(pattern)
    }

    package func matches(_ text: some StringProtocol) -> Bool {
        var (place, index) = (0, text.startIndex)
        var star: (place: Int, index: String.Index)?
        while index < text.endIndex {
            let sign = place < pattern.count ? pattern[place] : nil
            if sign == "*" {
                star = (place, index)
                place += 1
            } else if sign == "?" || sign == text[index] {
                place += 1
                index = text.index(after: index)
            } else if let last = star {
                // The last star takes one character more: an earlier one would gain nothing by it.
                index = text.index(after: last.index)
                (place, star) = (last.place + 1, (last.place, index))
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == "*" }
    }
}
