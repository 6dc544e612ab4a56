extension URLPattern {
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
}

extension URLPattern.Piece {
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
