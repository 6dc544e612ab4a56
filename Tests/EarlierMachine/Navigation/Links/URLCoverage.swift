internal import Support

extension URLPattern {
    /// True if every URL that matches the other pattern also matches this pattern.
    func covers(_ other: URLPattern) -> Bool {
        scheme == other.scheme && (isOfAnyHost || !other.isOfAnyHost)
            && other.variants.allSatisfy { theirs in variants.contains { Self.covers($0, theirs) } }
            && query.allSatisfy { covers($0, in: other) }
    }

    private static func covers(_ pieces: [Piece], _ others: [Piece]) -> Bool {
        guard pieces.last?.placeholder?.extent == .rest else {
            return others.last?.placeholder?.extent != .rest && pieces.count == others.count
                && zip(pieces, others).allSatisfy { $0.covers($1) }
        }
        // A rest does not end with an empty segment.
        guard others.count >= pieces.count, let last = others.last, last != Piece(prefix: "") else { return false }
        return zip(pieces.dropLast(), others).allSatisfy { $0.covers($1) }
    }

    /// True if the parameter matches all values that the other pattern allows for it.
    private func covers(_ parameter: Parameter, in other: URLPattern) -> Bool {
        guard let placeholder = parameter.value.placeholder else { return other.query.contains(parameter) }
        if placeholder.type == .string { return true }
        let others = other.query.filter { $0.name == parameter.name }
        guard let first = others.first?.value, others.count == 1 else { return false }
        return first.placeholder.map { placeholder.type.covers($0.type) } ?? false
    }

    /// The text that stands for any value in ``mayMatch(_:)``.
    static let wildcard = "\u{FFFD}"

    /// True if the pattern matches the URL with some texts instead of ``wildcard``.
    func mayMatch(_ url: URLParts) -> Bool {
        guard url.scheme == scheme, isOfAnyHost || url.authority == authority, let path = path(of: url) else {
            return false
        }
        func fits(_ piece: Piece, _ text: String) -> Bool {
            text.contains(scalars: Self.wildcard)
                || (piece.placeholder == nil ? piece.prefix == text : piece.value(in: text) != nil)
        }
        return zip(segments, path).allSatisfy { fits($0, $1) }
            && query.allSatisfy { parameter in
                let given = url.query.filter { $0.name == parameter.name }.map(\.value)
                guard let placeholder = parameter.value.placeholder else {
                    return given.contains { fits(parameter.value, $0) }
                }
                return given.first.map { fits(parameter.value, $0) || placeholder.type == .string } ?? true
            }
    }
}
