/// What the URLs of one deep link look like: `focus://playlist/{playlistID}?theme={theme}`.
///
/// A place `{name}` stands for a segment of the path or a part of one, never for several, or for the value of a query
/// parameter. A parameter whose value is a place may be missing, one with a fixed value must be there, and those that
/// the pattern does not name are ignored, as is a fragment. Scheme and host are compared without case.
public struct URLPattern: Hashable, Sendable {
    /// The pattern as it was written.
    public let source: String
    let scheme: String
    let authority: String
    let hasAuthority: Bool
    let segments: [Piece]
    let query: [Parameter]

    /// Text with at most one place in it.
    struct Piece: Hashable, Sendable {
        var prefix: String
        var place: String?
        var suffix = ""
    }

    struct Parameter: Hashable, Sendable {
        var name: String
        var value: Piece
    }

    /// The places in the path, which every matching URL fills.
    public var required: [String] { segments.compactMap(\.place) }

    /// The places in the query, which a matching URL may leave out.
    public var optional: [String] { query.compactMap(\.value.place) }

    /// Reads a pattern.
    ///
    /// - Throws: ``Problem`` that says what is wrong.
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
            guard let name = PercentEncoding.decode(item.name), !name.isEmpty, !name.contains(where: "{}".contains)
            else { throw .malformed(String(decoding: item.name, as: UTF8.self)) }
            guard value.place == nil || value.prefix + value.suffix == "" else { throw .partOfValue(name) }
            return Parameter(name: name, value: value)
        }
        var names = Set<String>()
        for place in required + optional where !names.insert(place).inserted { throw .twice(place) }
    }

    /// Reads the values out of a URL.
    ///
    /// - Parameter url: The URL.
    /// - Returns: The decoded values by the names of the places; nil when the URL is none of this pattern.
    public func values(in url: String) -> [String: String]? {
        URLParts(url).flatMap { values(in: $0) }
    }

    func values(in url: URLParts) -> [String: String]? {
        guard url.scheme == scheme, url.authority == authority, url.segments.count == segments.count else { return nil }
        var values: [String: String] = [:]
        for (piece, segment) in zip(segments, url.segments) {
            guard let place = piece.place else {
                guard piece.prefix == segment else { return nil }
                continue
            }
            guard let value = piece.value(in: segment) else { return nil }
            values[place] = value
        }
        for parameter in query {
            let given = url.query.filter { $0.name == parameter.name }.map(\.value)
            if let place = parameter.value.place {
                values[place] = given.first
            } else if !given.contains(parameter.value.prefix) {
                return nil
            }
        }
        return values
    }

    /// Makes the URL of these values; `values(in:)` reads them out of it again.
    ///
    /// - Parameter values: A value for each place; those of the query may be missing.
    /// - Returns: The URL in normal form; nil when a value is missing, or cannot be a segment of a path
    ///   as `..` cannot, or is too long.
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

    /// The URL that another one would be if it were of this pattern, as far as that can be told.
    func filled(from url: URLParts) -> String? {
        var values: [String: String] = [:]
        for (piece, segment) in zip(segments, url.segments) {
            if let place = piece.place { values[place] = segment }
        }
        return self.url(with: values)
    }

    /// Whether every URL of the other pattern is one of this pattern too.
    func covers(_ other: URLPattern) -> Bool {
        scheme == other.scheme && authority == other.authority && segments.count == other.segments.count
            && zip(segments, other.segments).allSatisfy { $0.covers($1) }
            && query.allSatisfy { $0.value.place != nil || other.query.contains($0) }
    }

    /// Why a pattern cannot be read.
    public enum Problem: Error, Hashable, Sendable, CustomStringConvertible {
        /// It does not begin with a scheme.
        case noScheme
        /// It ends with a fragment, which no application is told by every system.
        case fragment
        /// The part between `//` and the path holds a place or a user.
        case authority
        /// This segment or query parameter cannot be read.
        case malformed(String)
        /// This query parameter's value is more than a place.
        case partOfValue(String)
        /// This place stands twice.
        case twice(String)

        /// What is wrong and what to do.
        public var description: String {
            switch self {
            case .noScheme: "a link's URL begins with its scheme, such as 'focus:' or 'https:'; add it"
            case .fragment: "a link's URL has no fragment, which is ignored; remove '#' and what follows"
            case .authority:
                "a link's host has no case, so no place '{…}' and no user can stand in it; put them in the path"
            case .malformed(let part):
                "'\(part)' in a link's URL cannot be read; write text or one '{name}', and '%' as '%25'"
            case .partOfValue(let name):
                "the query parameter '\(name)' must be a fixed text or one place; write '\(name)={name}'"
            case .twice(let place): "'{\(place)}' stands twice in the link's URL; give one another name"
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
        let place = String(decoding: bytes[(opening + 1)..<closing], as: UTF8.self)
        let rest = bytes[(closing + 1)...]
        guard !place.isEmpty, place.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }),
            !rest.contains(where: "{}".utf8.contains), let suffix = PercentEncoding.decode(rest)
        else { throw malformed }
        self.place = place
        self.suffix = suffix
    }

    /// What the place stands for in `text`; never nothing.
    fileprivate func value(in text: String) -> String? {
        // By bytes: a value that begins with a combining accent would merge with the prefix into one character.
        let (text, prefix, suffix) = (Array(text.utf8), Array(prefix.utf8), Array(suffix.utf8))
        guard text.count > prefix.count + suffix.count, text.starts(with: prefix),
            text.reversed().starts(with: suffix.reversed())
        else { return nil }
        return String(decoding: text.dropFirst(prefix.count).dropLast(suffix.count), as: UTF8.self)
    }

    fileprivate func text(with values: [String: String], mayBeEmpty: Bool = false) -> String? {
        guard let place else { return prefix }
        guard let value = values[place], mayBeEmpty || !value.isEmpty else { return nil }
        return prefix + value + suffix
    }

    fileprivate func covers(_ other: Self) -> Bool {
        guard place != nil else { return self == other }
        guard other.place != nil else { return value(in: other.prefix) != nil }
        return other.prefix.hasPrefix(prefix) && other.suffix.hasSuffix(suffix)
    }
}
