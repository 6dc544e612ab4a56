public import Support

/// A pattern for the URLs of one deep link, such as `tea://brew/{minutes:integer}?strong={strong:boolean}`.
///
/// A placeholder `{name}` matches one segment of the path, a part of a segment, or the whole value of a query
/// parameter. Its value is a string, or of the type after the colon: `string`, `integer`, `number` or `boolean`. The
/// last segment may be `{name?}`, which may be missing, or `{name...}`, which matches all further segments. In
/// `shop://{path...}` the host counts as the first segment.
///
/// A query parameter whose value is a placeholder is optional; a query parameter with a fixed value is required. Query
/// parameters that the pattern does not name are ignored, and so is a fragment. Scheme and host are compared without
/// case.
public struct URLPattern: Hashable, Sendable {
    /// The pattern as it was written.
    public let source: String
    let scheme: String
    let authority: String
    let hasAuthority: Bool
    /// False if a URL with this host would have another one, because the host has characters such as an encoded `/`.
    private let hasWritableHost: Bool
    /// True if the path begins with the host, because the pattern is `SCHEME://{name...}`.
    let isOfAnyHost: Bool
    let segments: [Piece]
    let query: [Parameter]
    /// The sequences of host and segments that the pattern matches: with and without a last segment that may be missing.
    let variants: [[Piece]]

    /// Fixed text with at most one placeholder in it.
    struct Piece: Hashable, Sendable {
        var prefix: String
        var placeholder: Placeholder?
        var suffix = ""
    }

    struct Parameter: Hashable, Sendable {
        var name: String
        var value: Piece
    }

    /// The placeholders for which every matching URL has values.
    public var required: [String] { inPath.filter { $0.extent != .optional }.map(\.name) }

    /// The placeholders for which a matching URL may have no values: those of the query, and a last segment that may be
    /// missing.
    public var optional: [String] {
        inPath.filter { $0.extent == .optional }.map(\.name) + inQuery.map(\.name)
    }

    /// The placeholders of the path.
    let inPath: [Placeholder]
    private let inQuery: [Placeholder]

    func isInPath(_ name: String) -> Bool { inPath.contains { $0.name == name } }

    /// True if the pattern ends with `{name...}`.
    var hasRest: Bool { segments.last?.placeholder?.extent == .rest }

    /// The type of a placeholder's value. Nil if the pattern does not have the placeholder.
    func type(of name: String) -> ValueType? {
        (inPath.first { $0.name == name } ?? inQuery.first { $0.name == name })?.type
    }

    /// Parses a pattern.
    ///
    /// - Throws: ``Problem`` if the pattern is invalid.
    public init(_ source: String) throws(Problem) {
        guard let raw = RawURL(source, isPattern: true) else { throw .noScheme }
        guard !raw.hasFragment else { throw .fragment }
        var segments = raw.segments
        var authority = raw.authority ?? []
        // The host of a web address belongs to somebody; that of an app's own scheme is the first word of its path.
        isOfAnyHost =
            !["http", "https"].contains(raw.scheme) && authority.first == UInt8(ascii: "{")
            && authority.suffix(4).elementsEqual("...}".utf8)
        if isOfAnyHost {
            segments.insert(authority, at: 0)
            authority = []
        }
        guard !authority.contains(where: "{}@".utf8.contains),
            let host = URLParts.authority(authority, of: raw.scheme)
        else { throw .authority }
        self.source = source
        scheme = raw.scheme
        self.authority = host
        hasAuthority = raw.authority != nil
        hasWritableHost = raw.authority == nil || URLParts("\(raw.scheme)://\(host)")?.authority == host
        self.segments = try segments.map { segment throws(Problem) in
            guard !segment.isEmpty else { throw .malformed("//") }
            return try Piece(segment)
        }
        let whole = (isOfAnyHost ? [] : [Piece(prefix: host)]) + self.segments
        variants = self.segments.last?.placeholder?.extent == .optional ? [whole, whole.dropLast()] : [whole]
        for (index, piece) in self.segments.enumerated() {
            guard let placeholder = piece.placeholder, placeholder.extent != .one else { continue }
            guard index == segments.indices.last, piece.prefix + piece.suffix == "" else {
                throw .misplaced(placeholder.name)
            }
        }
        query = try raw.query.map { item throws(Problem) in
            let value = try Piece(item.value)
            guard let name = PercentEncoding.decode(item.name), !name.isEmpty, !name.contains(scalarOf: "{}")
            else { throw .malformed(String(decoding: item.name, as: UTF8.self)) }
            guard value.placeholder == nil || value.prefix + value.suffix == "" else { throw .partOfValue(name) }
            if let placeholder = value.placeholder, placeholder.extent != .one { throw .misplaced(placeholder.name) }
            return Parameter(name: name, value: value)
        }
        inPath = self.segments.compactMap(\.placeholder)
        inQuery = query.compactMap(\.value.placeholder)
        var names = Set<String>()
        for placeholder in required + optional where !names.insert(placeholder).inserted { throw .twice(placeholder) }
    }

    /// Matches a URL with the pattern.
    ///
    /// - Returns: The decoded values by the names of the placeholders. Nil if the URL does not match.
    public func values(in url: String) -> [String: JSONValue]? {
        URLParts(url).flatMap { values(in: $0) }
    }

    func values(in url: URLParts) -> [String: JSONValue]? {
        guard url.scheme == scheme, isOfAnyHost || url.authority == authority, let path = path(of: url) else {
            return nil
        }
        var values: [String: JSONValue] = [:]
        for (piece, segment) in zip(segments, path) {
            guard let placeholder = piece.placeholder else {
                guard piece.prefix == segment else { return nil }
                continue
            }
            guard let value = piece.value(in: segment) else { return nil }
            values[placeholder.name] = value
        }
        for parameter in query {
            let given = url.query.filter { $0.name == parameter.name }.map(\.value)
            if let placeholder = parameter.value.placeholder {
                guard let text = given.first else { continue }
                guard let value = placeholder.type.value(of: text) else { return nil }
                values[placeholder.name] = value
            } else if !given.contains(parameter.value.prefix) {
                return nil
            }
        }
        return values
    }

    /// The segments of a URL that correspond to the pattern's segments. Those of `{name...}` are joined. Nil if their
    /// number does not fit.
    func path(of url: URLParts) -> [String]? {
        switch segments.last?.placeholder?.extent {
        case .rest:
            let path = isOfAnyHost ? [url.authority] + url.segments : url.segments
            let start = segments.count - 1
            // A segment with an encoded `/` would not be the same segment in the URL that is made of the value.
            guard path.count > start, path.last?.isEmpty == false,
                path[start...].allSatisfy({ !$0.contains(scalars: "/") })
            else { return nil }
            return path[..<start] + [path[start...].joined(separator: "/")]
        case .optional: return (segments.count - 1...segments.count).contains(url.segments.count) ? url.segments : nil
        case .one, nil: return url.segments.count == segments.count ? url.segments : nil
        }
    }

    /// Builds the URL with these values.
    ///
    /// - Parameter values: The values by the names of the placeholders. Those in ``optional`` may be missing.
    /// - Returns: The URL in normal form. Nil if a value of the path is missing or empty or cannot be a path segment,
    ///   such as `..`, if a value does not have the placeholder's type, if the pattern's host has characters that no host
    ///   has, or if the URL is too long.
    public func url(with values: [String: JSONValue]) -> String? {
        let isTyped = values.allSatisfy { name, value in
            value.argumentText.flatMap { type(of: name)?.value(of: $0) } != nil
        }
        guard hasWritableHost, isTyped, let url = url(withTyped: values) else { return nil }
        guard hasRest else { return url }
        // A rest such as `a/../b` would be the rest `b`.
        let read = self.values(in: url)
        return read?.mapValues(\.argumentText) == values.mapValues(\.argumentText) ? url : nil
    }

    private func url(withTyped values: [String: JSONValue]) -> String? {
        var path = hasAuthority && !isOfAnyHost ? [authority] : []
        for piece in segments {
            guard let segment = piece.text(with: values) else {
                if piece.placeholder?.extent == .optional { continue }
                return nil
            }
            guard segment != ".", segment != ".." else { return nil }
            path.append(
                piece.placeholder?.extent == .rest ? Self.encode(rest: segment) : PercentEncoding.encode(segment))
        }
        var url = scheme + ":" + (hasAuthority ? "//" : "") + path.joined(separator: "/")
        let parameters = query.compactMap { parameter in
            parameter.value.text(with: values, mayBeEmpty: true).map { value in
                "\(PercentEncoding.encode(parameter.name))=\(PercentEncoding.encode(value))"
            }
        }
        if !parameters.isEmpty { url += "?" + parameters.joined(separator: "&") }
        return url.utf8.count <= URLParts.lengthLimit ? url : nil
    }

    /// Encodes the value of `{name...}`, except for the slashes between its segments.
    static func encode(rest: String) -> String {
        rest.split(scalar: "/", omittingEmptySubsequences: false).map { PercentEncoding.encode(String($0)) }
            .joined(separator: "/")
    }

    /// Returns the pattern filled in with the segments of another URL, in order to compare their spellings. Nil if no
    /// URL can be built from the segments.
    func filled(from url: URLParts) -> String? {
        var values: [String: JSONValue] = [:]
        for (piece, segment) in zip(segments, url.segments) {
            if let placeholder = piece.placeholder { values[placeholder.name] = .string(segment) }
        }
        return self.url(withTyped: values)
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
        /// This word after the colon of a placeholder is not a type.
        case unknownType(String)
        /// This placeholder with `?` or `...` is not the whole last segment of the path.
        case misplaced(String)
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
            case .unknownType(let word):
                "unknown type '\(word)' in the link's URL; "
                    + Spelling.advice(for: word, among: ValueType.allCases.map(\.rawValue))
            case .misplaced(let placeholder):
                "'{\(placeholder)}' has '?' or '...' and is not the whole last segment of the path; remove '?' or '...'"
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
        let rest = bytes[(closing + 1)...]
        guard !rest.contains(where: "{}".utf8.contains), let suffix = PercentEncoding.decode(rest) else {
            throw malformed
        }
        placeholder = try URLPattern.Placeholder(String(decoding: bytes[(opening + 1)..<closing], as: UTF8.self))
        self.suffix = suffix
    }

    /// The value of the part of `text` that the placeholder matches. Nil if `text` does not match or the placeholder
    /// would match nothing.
    func value(in text: String) -> JSONValue? {
        guard let value = text.removing(prefix: prefix)?.removing(suffix: suffix), !value.isEmpty else { return nil }
        return placeholder?.type.value(of: String(value))
    }

    fileprivate func text(with values: [String: JSONValue], mayBeEmpty: Bool = false) -> String? {
        guard let placeholder else { return prefix }
        guard let text = values[placeholder.name]?.argumentText, mayBeEmpty || !text.isEmpty else { return nil }
        return prefix + text + suffix
    }

    func covers(_ other: Self) -> Bool {
        guard let placeholder else { return self == other }
        guard let narrower = other.placeholder else { return value(in: other.prefix) != nil }
        guard placeholder.type.covers(narrower.type) else { return false }
        // The fixed text around a value of another type may be a part of a number.
        if placeholder.type != .string { return prefix == other.prefix && suffix == other.suffix }
        return other.prefix.begins(with: prefix) && other.suffix.ends(with: suffix)
    }
}

extension Flow {
    /// URLs of a link with all combinations of values. Empty if the pattern is invalid, if no URL of it can be written, or
    /// if there are more than `limit`.
    /// - Parameter values: Returns the values of a placeholder with a schema.
    package func exampleURLs(
        ofLink index: Int, limit: Int, _ values: (String, JSONSchema) -> [JSONValue]
    ) -> [String] {
        let prepared = program.links[index]
        guard let pattern = prepared.link.pattern else { return [] }
        var combinations: [[String: JSONValue]] = [[:]]
        for name in pattern.required + pattern.optional {
            let used = prepared.uses.filter { $0.placeholder == name }.flatMap { values(name, $0.field.schema) }
            let all = used.isEmpty ? values(name, pattern.type(of: name)?.schema ?? .string) : used
            combinations = combinations.flatMap { former in
                all.map { former.merging([name: $0]) { $1 } } + (pattern.optional.contains(name) ? [former] : [])
            }
            if combinations.count > limit { return [] }
        }
        return Set(combinations.compactMap(pattern.url)).sorted()
    }
}
