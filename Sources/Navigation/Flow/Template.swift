/// A string with places to fill in: `https://open.spotify.com/playlist/${screens.generatedPlaylist.playlistID}`.
///
/// A place names a value by a dotted path that begins with one of
/// - `data`: the data of the message,
/// - `answer`: the data of the message that answered the rule's guard,
/// - `arguments`: the arguments of the screen in front,
/// - `screens.NAME`: the arguments of the frontmost instance of a screen.
///
/// A string that is one place and nothing else becomes the value itself, whatever its type; among other text a value
/// must be a string, a number or a truth value.
struct Template {
    enum Segment: Equatable {
        case text(String)
        case place(String)
    }

    enum Problem: Error, Equatable {
        case unclosed
        case unknownScope(String)
        case incomplete(String)
    }

    enum Scope: String, CaseIterable {
        case data
        case answer
        case arguments
        case screens
    }

    let segments: [Segment]

    /// Reads a template.
    ///
    /// - Throws: ``Problem`` when a place is not closed or does not begin with a known name.
    init(_ source: String) throws(Problem) {
        var segments: [Segment] = []
        var rest = source[...]
        while let opening = rest.firstRange(of: "${") {
            guard let closing = rest[opening.upperBound...].firstIndex(of: "}") else { throw .unclosed }
            if opening.lowerBound > rest.startIndex { segments.append(.text(String(rest[..<opening.lowerBound]))) }
            let place = String(rest[opening.upperBound..<closing])
            try Self.check(place)
            segments.append(.place(place))
            rest = rest[rest.index(after: closing)...]
        }
        if !rest.isEmpty || segments.isEmpty { segments.append(.text(String(rest))) }
        self.segments = segments
    }

    /// The screens whose arguments are asked for.
    var screens: [String] {
        segments.compactMap { segment in
            guard case .place(let place) = segment else { return nil }
            let parts = place.split(separator: ".")
            return parts[0] == Scope.screens.rawValue ? String(parts[1]) : nil
        }
    }

    /// Whether it needs the answer of a guard.
    var refersToAnswer: Bool {
        segments.contains { segment in
            guard case .place(let place) = segment else { return false }
            return place.hasPrefix(Scope.answer.rawValue + ".")
        }
    }

    private static func check(_ place: String) throws(Problem) {
        let parts = place.split(separator: ".", omittingEmptySubsequences: false)
        guard let scope = Scope(rawValue: String(parts[0])) else { throw .unknownScope(String(parts[0])) }
        let least = scope == .screens ? 3 : 2
        guard parts.count >= least, parts.allSatisfy({ !$0.isEmpty }) else { throw .incomplete(place) }
    }
}

extension Template.Problem: CustomStringConvertible {
    var description: String {
        switch self {
        case .unclosed: "'${' is not closed; add '}'"
        case .unknownScope(let scope):
            "unknown name '\(scope)' in a template; use data.…, arguments.… or screens.NAME.…"
        case .incomplete(let place):
            "'${\(place)}' names no value; write data.FIELD, arguments.NAME or screens.SCREEN.NAME"
        }
    }
}
