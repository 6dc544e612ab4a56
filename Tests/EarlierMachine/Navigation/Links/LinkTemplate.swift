internal import Support

/// A URL with values of another URL in it, such as `shop://item/${url.itemID}?colour=${url.colour:-red}`. `$${` is the
/// text `${`.
struct LinkTemplate {
    private enum Part {
        case text(String)
        case value(String, fallback: String?)
    }

    private let parts: [Part]

    /// - Returns: Nil if a template is not `${url.NAME}` or `${url.NAME:-DEFAULT}`.
    init?(_ source: String) {
        var parts: [Part] = []
        var rest = source[...]
        while let (text, opened) = rest.cut(at: "${") {
            if let literal = text.removing(suffix: "$") {
                parts.append(.text(String(literal) + "${"))
                rest = opened
                continue
            }
            guard let (inside, after) = opened.cut(at: "}"),
                case .placeholder(let name, let fallback) = LinkArgument(.string("${\(inside)}"))
            else { return nil }
            parts += [.text(String(text)), .value(name, fallback: fallback)]
            rest = after
        }
        self.parts = parts + [.text(String(rest))]
    }

    /// The names of the values, with their defaults.
    var values: [(name: String, fallback: String?)] {
        parts.compactMap { if case .value(let name, let fallback) = $0 { (name, fallback) } else { nil } }
    }

    /// The URL with these values. A query parameter with a value that is nil is left out, and so is a segment of the
    /// path that is only this value.
    ///
    /// - Parameter text: Returns the encoded text of a value.
    /// - Returns: Nil if a segment of the path is `.` or `..`.
    func filled(_ text: (_ name: String, _ fallback: String?) -> String?) -> String? {
        // Encoded texts do not contain this scalar.
        let nothing = "\u{FFFC}"
        let whole = parts.map { part in
            switch part {
            case .text(let text): text
            case .value(let name, let fallback): text(name, fallback) ?? nothing
            }
        }.joined()
        let (path, query) = whole.cut(at: "?") ?? (whole[...], "")
        let segments = path.split(scalar: "/", omittingEmptySubsequences: false).filter { $0 != nothing }
        let parameters = query.split(scalar: "&").filter { !$0.contains(scalars: nothing) }
        guard !segments.contains(where: { "." == $0 || ".." == $0 }) else { return nil }
        let url = segments.joined(separator: "/").replacing(scalars: nothing, with: "")
        return url + (parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&"))
    }
}
