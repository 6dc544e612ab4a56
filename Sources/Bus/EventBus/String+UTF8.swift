extension String {
    /// As `String(validating:as:)`, with a short cut for what is ASCII, as nearly everything is.
    package init?(utf8 bytes: UnsafeBufferPointer<UInt8>) {
        if bytes.allSatisfy({ $0 < 0x80 }) {
            self.init(decoding: bytes, as: UTF8.self)
        } else {
            self.init(validating: bytes, as: UTF8.self)
        }
    }

    /// As much of it as a person reads, and as a text on the wire can hold: what quotes a stranger may be megabytes long.
    package func shortened(to count: Int = 500) -> String {
        utf8.count <= count ? self : prefix(utf8: count) + "…"
    }

    /// The beginning that takes at most so many bytes of UTF-8, in whole characters of it.
    package func prefix(utf8 count: Int) -> String {
        guard utf8.count > count else { return self }
        var end = utf8.index(utf8.startIndex, offsetBy: count)
        while utf8[end] & 0xc0 == 0x80 {
            end = utf8.index(before: end)
        }
        return String(decoding: utf8[..<end], as: UTF8.self)
    }
}
