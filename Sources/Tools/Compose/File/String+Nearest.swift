extension String {
    /// What an error says when one of the candidates may be meant.
    func suggestion(among candidates: some Sequence<String>) -> String? {
        nearest(of: candidates).map { "did you mean '\($0)'?" }
    }

    /// The candidate that a typing mistake most likely meant, if one is near enough.
    package func nearest(of candidates: some Sequence<String>) -> String? {
        let limit = Swift.max(1, count / 3)
        let best = candidates.sorted().map { (name: $0, distance: distance(to: $0)) }.min { $0.distance < $1.distance }
        return best.flatMap { $0.distance <= limit ? $0.name : nil }
    }

    /// Levenshtein's distance, with one row of the table kept.
    private func distance(to other: String) -> Int {
        let target = Array(other)
        var row = Array(0...target.count)
        for (index, character) in enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in target.indices {
                let substitution = diagonal + (character == target[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = Swift.min(substitution, diagonal + 1, row[column] + 1)
            }
        }
        return row[target.count]
    }
}
