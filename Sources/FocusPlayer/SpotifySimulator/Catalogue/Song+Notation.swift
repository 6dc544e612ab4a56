extension Song {
    /// Reads one line of the catalogue's notation for songs.
    ///
    ///     Artist / Album: First Title; Second Title
    ///     Artist / Album: Title 1..30
    ///
    /// The second form stands for “Title 1” to “Title 30”.
    ///
    /// - Parameter line: The line.
    /// - Returns: The songs in order, or `nil` when the line is not in the notation.
    static func songs(inNotation line: String) -> [Song]? {
        guard let colon = line.firstIndex(of: ":") else { return nil }
        let record = line[..<colon].split(separator: "/", omittingEmptySubsequences: false).map(\.trimmed)
        let titles = line[line.index(after: colon)...]
            .split(separator: ";", omittingEmptySubsequences: false)
            .map(\.trimmed)
        guard record.count == 2, !record.contains(""), !titles.contains("") else { return nil }

        var songs: [Song] = []
        for title in titles {
            guard let expanded = expand(title) else { return nil }
            songs += expanded.map { Song(artist: record[0], album: record[1], title: $0) }
        }
        return songs
    }

    /// “Title 1..3” is three titles, a title without a range is itself, and a range that makes no sense is `nil`.
    private static func expand(_ title: String) -> [String]? {
        guard let range = title.firstRange(of: "..") else { return [title] }
        let before = title[..<range.lowerBound]
        guard
            let space = before.lastIndex(of: " "),
            let first = Int(before[before.index(after: space)...]),
            let last = Int(title[range.upperBound...]),
            first <= last, last - first < 1_000
        else { return nil }
        return (first...last).map { "\(before[..<space]) \($0)" }
    }
}

extension Substring {
    fileprivate var trimmed: String {
        var rest = self
        while rest.first == " " { rest.removeFirst() }
        while rest.last == " " { rest.removeLast() }
        return String(rest)
    }
}
