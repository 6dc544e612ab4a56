extension String {
    /// Returns the string, cut to at most `count` bytes of UTF-8 and followed by "…" if it is longer.
    package func shortened(to count: Int = 500) -> String {
        utf8.count <= count ? self : prefix(utf8: count) + "…"
    }

    /// The longest prefix that has at most `count` bytes of UTF-8 and does not end inside a Unicode scalar.
    package func prefix(utf8 count: Int) -> String {
        guard utf8.count > count else { return self }
        var end = utf8.index(utf8.startIndex, offsetBy: count)
        while utf8[end] & 0xc0 == 0x80 {
            end = utf8.index(before: end)
        }
        return String(decoding: utf8[..<end], as: UTF8.self)
    }
}
