internal import BusProtocol

extension FeedMessage {
    /// Covers the position and the frames, so that a damaged row is found when it is read.
    var checksum: Int64 {
        var hash = Hash()
        for number in [offset, previous] {
            withUnsafeBytes(of: number.bigEndian) { hash.combine($0) }
        }
        hash.combine(topic.utf8)
        hash.combine(header)
        hash.combine(data)
        return Int64(bitPattern: hash.value)
    }
}
