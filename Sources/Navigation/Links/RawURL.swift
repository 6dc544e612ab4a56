/// A URL, or a pattern of URLs, cut at its delimiters (RFC 3986, 3) and not decoded yet.
///
/// It is cut by bytes: to Swift a `/` with a combining accent after it is one other character.
struct RawURL {
    /// Without case.
    let scheme: String
    let authority: ArraySlice<UInt8>?
    /// What the path's slashes separate; a slash at its end changes nothing.
    let segments: [ArraySlice<UInt8>]
    let query: [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)]
    let hasFragment: Bool

    /// - Returns: nil for what has no scheme.
    init?(_ source: String) {
        var rest = Array(source.utf8)[...]
        guard let scheme = Self.cut(&rest, at: ":").flatMap(Self.scheme) else { return nil }
        self.scheme = scheme
        let body = Self.cut(&rest, at: "#")
        hasFragment = body != nil
        rest = body ?? rest
        if let hierarchy = Self.cut(&rest, at: "?") {
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

    /// Takes off what stands before the first `delimiter`, and the delimiter.
    private static func cut(_ rest: inout ArraySlice<UInt8>, at delimiter: Unicode.Scalar) -> ArraySlice<UInt8>? {
        guard let index = rest.firstIndex(of: UInt8(ascii: delimiter)) else { return nil }
        defer { rest = rest[(index + 1)...] }
        return rest[..<index]
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
