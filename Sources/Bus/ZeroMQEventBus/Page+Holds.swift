internal import BusProtocol

extension Page {
    /// Whether there is or was a message at an offset: they are in order, those that are damaged beside them.
    func holds(_ offset: UInt64) -> Bool {
        var range = messages.indices
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if messages[middle].offset == offset { return true }
            range = messages[middle].offset < offset ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return damaged.contains(offset)
    }
}
