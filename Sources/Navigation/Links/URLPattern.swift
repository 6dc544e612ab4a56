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
}
