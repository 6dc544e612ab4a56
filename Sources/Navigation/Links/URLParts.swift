/// An absolute URL taken apart and decoded, so that two spellings of one URL have equal parts (RFC 3986, 6.2).
struct URLParts {
    let scheme: String
    /// Without case, and without the port that the scheme has anyway. A user in it makes it another authority.
    let authority: String
    /// Without `.` and `..`.
    let segments: [String]
    let query: [(name: String, value: String)]

    /// The longest URL that is read, in bytes: a parked one is part of each snapshot.
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
        for port in [ports[scheme], ":"].compactMap(\.self) where authority.hasSuffix(port) {
            return String(authority.dropLast(port.count))
        }
        return authority
    }
}
