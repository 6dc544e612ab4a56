internal import EventBus

/// Asks for what comes behind an offset. Frames: cursor (epoch, offset) | one topic prefix each.
package struct PageRequest: Hashable, Sendable {
    /// 0 for whichever journal there is.
    package let epoch: UInt64
    package let after: UInt64
    package let prefixes: [String]

    package init(epoch: UInt64, after: UInt64, prefixes: [String]) {
        self.epoch = epoch
        self.after = after
        self.prefixes = prefixes
    }

    package init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        guard let first = frames.first else { throw ProtocolError(.malformed, "the request lacks its cursor frame") }
        var cursor = ByteReader(first)
        self.init(
            epoch: try cursor.read(), after: try cursor.read(), prefixes: try Self.prefixes(frames.dropFirst()))
        try cursor.end()
    }

    package var frames: [[UInt8]] {
        var cursor = ByteWriter(capacity: 16)
        cursor.write(epoch)
        cursor.write(after)
        return [cursor.bytes] + prefixes.map { Array($0.utf8) }
    }

    private static func prefixes(_ frames: ArraySlice<[UInt8]>) throws(ProtocolError) -> [String] {
        guard frames.count <= Limits.filterCount else {
            throw ProtocolError(.tooLarge, "a request has at most \(Limits.filterCount) filters")
        }
        var prefixes: [String] = []
        for frame in frames {
            guard let prefix = String(validating: frame, as: UTF8.self), prefix.hasSuffix(".") || Topic(prefix) != nil
            else {
                throw ProtocolError(.topic, "a filter ends with a dot or is a whole topic")
            }
            prefixes.append(prefix)
        }
        return prefixes
    }
}
