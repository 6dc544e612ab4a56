/// Finds the word that a person probably meant by a mistyped one.
package enum Spelling {
    /// The maximum number of candidates that are compared with a word.
    private static let comparisonLimit = 1_000
    /// The maximum number of candidates that an error lists.
    private static let listLimit = 50

    /// The candidate nearest to `word`, ignoring case. Nil if the distance of every candidate is greater than 1 and
    /// greater than a third of the length of `word`, and if there are more than 1,000 candidates.
    package static func nearest(to word: String, in candidates: some Sequence<String>) -> String? {
        let candidates = Array(candidates.prefix(comparisonLimit + 1))
        if candidates.count > comparisonLimit { return nil }
        return
            candidates
            .map { (distance: distance(word.lowercased(), $0.lowercased()), candidate: $0) }
            .filter { $0.distance <= max(1, word.count / 3) }
            .min { ($0.distance, $0.candidate) < ($1.distance, $1.candidate) }?
            .candidate
    }

    /// The end of an error message that names the nearest candidate: `did you mean 'X'?`. Nil if ``nearest(to:in:)`` is
    /// nil.
    package static func suggestion(for word: String, among candidates: some Sequence<String>) -> String? {
        nearest(to: word, in: candidates).map { "did you mean '\($0)'?" }
    }

    /// The end of an error message that names the nearest candidate or, if none is near, all candidates, at most 50.
    /// `there are none yet` if `candidates` is empty.
    package static func advice(for word: String, among candidates: some Collection<String>) -> String {
        if let suggestion = suggestion(for: word, among: candidates) { return suggestion }
        if candidates.isEmpty { return "there are none yet" }
        let listed = candidates.sorted().prefix(listLimit).joined(separator: ", ")
        let rest = candidates.count - listLimit
        return "known: \(listed)\(rest > 0 ? " and \(rest) more" : "")"
    }

    /// The number of changes that turn one word into the other (optimal string alignment). A change inserts, removes or
    /// replaces a letter, or swaps two neighbouring letters.
    private static func distance(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left), Array(right))
        var rows = [Array(0...right.count)]
        for (row, letter) in left.enumerated() {
            rows.append([row + 1])
            for (column, other) in right.enumerated() {
                let replaced = rows[row][column] + (letter == other ? 0 : 1)
                var least = min(replaced, rows[row][column + 1] + 1, rows[row + 1][column] + 1)
                if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
                    least = min(least, rows[row - 1][column - 1] + 1)
                }
                rows[row + 1].append(least)
            }
        }
        return rows[left.count][right.count]
    }
}
