internal import Navigation
internal import Support

/// The template that a contract gives for the line of a message, such as `${minutes} min`.
struct LineTemplate: Sendable {
    /// A template with its values.
    struct Line {
        let text: String
        /// The hash of the whole values.
        let hash: Int
    }

    private enum Part {
        case text(String)
        /// A value at the path with this index.
        case value(Int)
    }

    private let parts: [Part]
    /// The different paths of the values. A template may repeat one often, and its value may be large.
    private let paths: [[String]]

    /// Nil if a placeholder is not closed.
    init?(_ source: String) {
        guard let segments = try? Template.segments(of: source) else { return nil }
        var paths: [[String]] = []
        parts = segments.map { segment in
            switch segment {
            case .text(let text): return .text(text.printable)
            case .placeholder(let place):
                let path = place.path.split(scalar: ".", omittingEmptySubsequences: false).map(String.init)
                if let index = paths.firstIndex(of: path) { return .value(index) }
                paths.append(path)
                return .value(paths.count - 1)
            }
        }
        self.paths = paths
    }

    /// The line of a message with this data. Nil if a value is absent, or is not a string, a number or a boolean.
    func line(of data: JSONValue) -> Line? {
        var texts: [String] = []
        var hasher = Hasher()
        for path in paths {
            guard let value = data.value(at: path), let text = DataWords.scalarText(of: value) else { return nil }
            texts.append(text)
            hasher.combine(value)
        }
        let words = parts.map { part in
            switch part {
            case .text(let text): text
            case .value(let index): texts[index]
            }
        }
        return Line(text: words.joined(), hash: hasher.finalize())
    }
}
