internal import Support

/// The decoded and normalized parts of an absolute URL (RFC 3986, 6.2.2).
struct URLParts {
    let scheme: String
    /// The authority in lower case, without the default port of `http` or `https`. It includes the user name, if there
    /// is one.
    let authority: String
    /// The path segments after `.` and `..` have been resolved.
    let segments: [String]
    let query: [(name: String, value: String)]

    /// The maximum length of a URL in bytes. A longer URL matches no link.
    static let lengthLimit = 8192

    init?(_ url: String) {
        let isPrintable = url.utf8.allSatisfy { $0 > UInt8(ascii: " ") && $0 != 0x7F }
        guard url.utf8.count <= Self.lengthLimit, isPrintable, let raw = RawURL(url),
            let authority = Self.authority(raw.authority ?? [], of: raw.scheme)
        else { return nil }
        var segments: [String] = []
        for raw in raw.segments {
            guard let segment = PercentEncoding.decode(raw) else { return nil }
            switch segment {
            case ".": break
            case "..": _ = segments.popLast()
            default: segments.append(segment)
            }
        }
        var query: [(name: String, value: String)] = []
        for item in raw.query {
            guard let name = PercentEncoding.decode(item.name), let value = PercentEncoding.decode(item.value) else {
                return nil
            }
            query.append((name, value))
        }
        scheme = raw.scheme
        self.authority = authority
        self.segments = segments
        self.query = query
    }

    static func authority(_ bytes: ArraySlice<UInt8>, of scheme: String) -> String? {
        guard let authority = PercentEncoding.decode(bytes)?.lowercased() else { return nil }
        let ports = ["http": ":80", "https": ":443"]
        for port in [ports[scheme], ":"].compactMap(\.self) {
            if let host = authority.removing(suffix: port) { return String(host) }
        }
        return authority
    }
}

/// The parts of a URL or of a URL pattern, split at its delimiters (RFC 3986, 3) and not decoded yet.
///
/// The URL is split by bytes, because for Swift a `/` followed by a combining accent is one character, which does not
/// equal `/`.
struct RawURL {
    /// The scheme in lower case.
    let scheme: String
    /// Nil if the URL has no `//` after the scheme.
    let authority: ArraySlice<UInt8>?
    /// The parts of the path between slashes. A slash at the end adds no segment.
    let segments: [ArraySlice<UInt8>]
    let query: [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)]
    let hasFragment: Bool

    /// - Parameter isPattern: True if a `?` within braces belongs to a placeholder.
    /// - Returns: Nil if the string does not begin with a scheme.
    init?(_ source: String, isPattern: Bool = false) {
        var rest = Array(source.utf8)[...]
        guard let scheme = Self.cut(&rest, at: ":").flatMap(Self.scheme) else { return nil }
        self.scheme = scheme
        let body = Self.cut(&rest, at: "#")
        hasFragment = body != nil
        rest = body ?? rest
        if let hierarchy = isPattern ? Self.cutOutsideBraces(&rest, at: "?") : Self.cut(&rest, at: "?") {
            query = Self.query(rest)
            rest = hierarchy
        } else {
            query = []
        }
        if rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            authority = rest[..<end]
            rest = rest[end...]
        } else {
            authority = nil
        }
        segments = Self.segments(rest)
    }

    /// Removes the part before the first `delimiter` together with the delimiter, and returns the part. Nil if there is
    /// no delimiter.
    private static func cut(_ rest: inout ArraySlice<UInt8>, at delimiter: Unicode.Scalar) -> ArraySlice<UInt8>? {
        guard let index = rest.firstIndex(of: UInt8(ascii: delimiter)) else { return nil }
        defer { rest = rest[(index + 1)...] }
        return rest[..<index]
    }

    private static func cutOutsideBraces(_ rest: inout ArraySlice<UInt8>, at delimiter: Unicode.Scalar) -> ArraySlice<
        UInt8
    >? {
        var isInside = false
        for index in rest.indices {
            let byte = rest[index]
            if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "}") { isInside = byte == UInt8(ascii: "{") }
            guard !isInside, byte == UInt8(ascii: delimiter) else { continue }
            defer { rest = rest[(index + 1)...] }
            return rest[..<index]
        }
        return nil
    }

    private static func scheme(_ bytes: ArraySlice<UInt8>) -> String? {
        let scheme = String(decoding: bytes, as: UTF8.self).lowercased()
        let characters = scheme.unicodeScalars
        guard let first = characters.first, ("a"..."z").contains(first) else { return nil }
        let isScheme = characters.allSatisfy {
            ("a"..."z").contains($0) || ("0"..."9").contains($0) || ["+", "-", "."].contains($0)
        }
        return isScheme ? scheme : nil
    }

    private static func segments(_ path: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        let path = path.first == UInt8(ascii: "/") ? path.dropFirst() : path
        var segments = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        if segments.last?.isEmpty == true { segments.removeLast() }
        return segments
    }

    private static func query(_ text: ArraySlice<UInt8>) -> [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] {
        text.split(separator: UInt8(ascii: "&")).map { item in
            var value = item
            let name = cut(&value, at: "=")
            return name.map { ($0, value) } ?? (item, [])
        }
    }
}
