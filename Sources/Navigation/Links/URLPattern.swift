internal import Support

/// A pattern for the URLs of one deep link, such as `focus://playlist/{playlistID}?theme={theme}`.
///
/// A placeholder `{name}` matches one segment of the path, a part of a segment, or the whole value of a query
/// parameter. A query parameter whose value is a placeholder is optional; a query parameter with a fixed value is
/// required. Query parameters that the pattern does not name are ignored, and so is a fragment. Scheme and host are
/// compared without case.
public struct URLPattern: Hashable, Sendable {
    /// The pattern as it was written.
    public let source: String
    let scheme: String
    let authority: String
    let hasAuthority: Bool
    let segments: [Piece]
    let query: [Parameter]

    /// Fixed text with at most one placeholder in it.
    struct Piece: Hashable, Sendable {
        var prefix: String
        var placeholder: String?
        var suffix = ""
    }

    struct Parameter: Hashable, Sendable {
        var name: String
        var value: Piece
    }

    /// The placeholders in the path. Every matching URL has values for them.
    public var required: [String] { segments.compactMap(\.placeholder) }

    /// The placeholders in the query. A matching URL may have no values for them.
    public var optional: [String] { query.compactMap(\.value.placeholder) }

    /// Parses a pattern.
    ///
    /// - Throws: ``Problem`` if the pattern is invalid.
    public init(_ source: String) throws(Problem) {
        guard let raw = RawURL(source) else { throw .noScheme }
        guard !raw.hasFragment else { throw .fragment }
        let authority = raw.authority ?? []
        guard !authority.contains(where: "{}@".utf8.contains),
            let host = URLParts.authority(authority, of: raw.scheme)
        else { throw .authority }
        self.source = source
        scheme = raw.scheme
        self.authority = host
        hasAuthority = raw.authority != nil
        segments = try raw.segments.map { segment throws(Problem) in
            guard !segment.isEmpty else { throw .malformed("//") }
            return try Piece(segment)
        }
        query = try raw.query.map { item throws(Problem) in
            let value = try Piece(item.value)
            guard let name = PercentEncoding.decode(item.name), !name.isEmpty, !name.contains(scalarOf: "{}")
            else { throw .malformed(String(decoding: item.name, as: UTF8.self)) }
            guard value.placeholder == nil || value.prefix + value.suffix == "" else { throw .partOfValue(name) }
            return Parameter(name: name, value: value)
        }
        var names = Set<String>()
        for placeholder in required + optional where !names.insert(placeholder).inserted { throw .twice(placeholder) }
    }

    /// Matches a URL with the pattern.
    ///
    /// - Returns: The decoded values by the names of the placeholders. Nil if the URL does not match.
    public func values(in url: String) -> [String: String]? {
        URLParts(url).flatMap { values(in: $0) }
    }

    func values(in url: URLParts) -> [String: String]? {
        guard url.scheme == scheme, url.authority == authority, url.segments.count == segments.count else { return nil }
        var values: [String: String] = [:]
        for (piece, segment) in zip(segments, url.segments) {
            guard let placeholder = piece.placeholder else {
                guard piece.prefix == segment else { return nil }
                continue
            }
            guard let value = piece.value(in: segment) else { return nil }
            values[placeholder] = value
        }
        for parameter in query {
            let given = url.query.filter { $0.name == parameter.name }.map(\.value)
            if let placeholder = parameter.value.placeholder {
                values[placeholder] = given.first
            } else if !given.contains(parameter.value.prefix) {
                return nil
            }
        }
        return values
    }

    /// Builds the URL with these values.
    ///
    /// - Parameter values: The values by the names of the placeholders. Those of the query may be missing.
    /// - Returns: The URL in normal form. Nil if a value of the path is missing or empty or cannot be a path segment,
    ///   such as `..`, or if the URL is too long.
    public func url(with values: [String: String]) -> String? {
        var url = scheme + ":" + (hasAuthority ? "//" + authority : "")
        for (index, piece) in segments.enumerated() {
            guard let segment = piece.text(with: values), segment != ".", segment != ".." else { return nil }
            url += (hasAuthority || index > 0 ? "/" : "") + PercentEncoding.encode(segment)
        }
        let parameters = query.compactMap { parameter in
            parameter.value.text(with: values, mayBeEmpty: true).map { value in
                "\(PercentEncoding.encode(parameter.name))=\(PercentEncoding.encode(value))"
            }
        }
        if !parameters.isEmpty { url += "?" + parameters.joined(separator: "&") }
        return url.utf8.count <= URLParts.lengthLimit ? url : nil
    }

    /// Returns the pattern filled in with the segments of another URL, in order to compare their spellings. Nil if no
    /// URL can be built from the segments.
    func filled(from url: URLParts) -> String? {
        var values: [String: String] = [:]
        for (piece, segment) in zip(segments, url.segments) {
            if let placeholder = piece.placeholder { values[placeholder] = segment }
        }
        return self.url(with: values)
    }

    /// True if every URL that matches the other pattern also matches this pattern.
    func covers(_ other: URLPattern) -> Bool {
        scheme == other.scheme && authority == other.authority && segments.count == other.segments.count
            && zip(segments, other.segments).allSatisfy { $0.covers($1) }
            && query.allSatisfy { $0.value.placeholder != nil || other.query.contains($0) }
    }

    /// A reason why a pattern cannot be parsed.
    public enum Problem: Error, Hashable, Sendable, CustomStringConvertible {
        /// The pattern does not begin with a scheme.
        case noScheme
        /// The pattern has a fragment.
        case fragment
        /// The part between `//` and the path contains a placeholder or a user name, or cannot be decoded.
        case authority
        /// This segment or query parameter cannot be parsed.
        case malformed(String)
        /// The value of this query parameter combines fixed text and a placeholder.
        case partOfValue(String)
        /// This placeholder occurs twice.
        case twice(String)

        /// The problem and its remedy.
        public var description: String {
            switch self {
            case .noScheme: "a link's URL must begin with a scheme; add one, such as 'focus:' or 'https:'"
            case .fragment: "a link's URL cannot have a fragment; remove '#' and everything after it"
            case .authority:
                "the host of a link's URL cannot contain '{…}', a user name or an invalid '%'; correct it"
            case .malformed(let part):
                "'\(part)' in a link's URL is invalid; a path consists of words and '{name}', a query of 'key=value' and "
                    + "'key={name}'; write '%' as '%25'"
            case .partOfValue(let name):
                "query parameter '\(name)' mixes fixed text and '{…}'; write '\(name)={name}' or only fixed text"
            case .twice(let placeholder): "'{\(placeholder)}' occurs twice in the link's URL; rename one of them"
            }
        }
    }
}

extension URLPattern.Piece {
    init(_ bytes: ArraySlice<UInt8>) throws(URLPattern.Problem) {
        let malformed = URLPattern.Problem.malformed(String(decoding: bytes, as: UTF8.self))
        let opening = bytes.firstIndex(of: UInt8(ascii: "{")) ?? bytes.endIndex
        let closing = bytes.firstIndex(of: UInt8(ascii: "}")) ?? bytes.endIndex
        guard let prefix = PercentEncoding.decode(bytes[..<min(opening, closing)]), prefix != ".", prefix != ".." else {
            throw malformed
        }
        self.prefix = prefix
        guard opening < bytes.endIndex || closing < bytes.endIndex else { return }
        guard opening < closing, closing < bytes.endIndex else { throw malformed }
        let placeholder = String(decoding: bytes[(opening + 1)..<closing], as: UTF8.self)
        let rest = bytes[(closing + 1)...]
        guard !placeholder.isEmpty,
            placeholder.split(scalar: "_").allSatisfy({ $0.allSatisfy { $0.isLetter || $0.isNumber } }),
            !rest.contains(where: "{}".utf8.contains), let suffix = PercentEncoding.decode(rest)
        else { throw malformed }
        self.placeholder = placeholder
        self.suffix = suffix
    }

    /// The part of `text` that the placeholder matches. Nil if `text` does not match or the placeholder would match
    /// nothing.
    fileprivate func value(in text: String) -> String? {
        guard let value = text.removing(prefix: prefix)?.removing(suffix: suffix), !value.isEmpty else { return nil }
        return String(value)
    }

    fileprivate func text(with values: [String: String], mayBeEmpty: Bool = false) -> String? {
        guard let placeholder else { return prefix }
        guard let value = values[placeholder], mayBeEmpty || !value.isEmpty else { return nil }
        return prefix + value + suffix
    }

    fileprivate func covers(_ other: Self) -> Bool {
        guard placeholder != nil else { return self == other }
        guard other.placeholder != nil else { return value(in: other.prefix) != nil }
        return other.prefix.begins(with: prefix) && other.suffix.ends(with: suffix)
    }
}
