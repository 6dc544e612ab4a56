internal import BusFormat

/// A frame with the verified origins of messages, in the order of the messages. Only a bus with keys sends it, after
/// the frame of the messages.
struct OriginWriter: Hashable {
    private var writer = ByteWriter()
    private var count = 0
    private var isNeeded = false

    /// - Parameter origin: Nil for a message that was recorded when the bus had no keys.
    mutating func add(_ origin: VerifiedOrigin?) {
        count += 1
        guard isNeeded || origin != nil else { return }
        if !isNeeded {
            isNeeded = true
            for _ in 1..<count { writer.write(nil) }
        }
        writer.write(origin)
    }

    /// The frame; nil if no message has an origin.
    var frame: [UInt8]? { isNeeded ? writer.bytes : nil }

    /// The frame as a list; empty if no message has an origin.
    var frames: [[UInt8]] { frame.map { [$0] } ?? [] }
}

/// A reader of the frame that ``OriginWriter`` makes.
package struct Origins {
    /// Nil if there is no such frame.
    private var reader: ByteReader?

    init(_ frame: [UInt8]?) {
        reader = frame.map { ByteReader($0) }
    }

    /// Divides a body of two or three frames.
    /// - Returns: Nil if there are more or fewer frames.
    static func divide(_ frames: ArraySlice<[UInt8]>) -> (first: [UInt8], body: [UInt8], origins: [UInt8]?)? {
        guard let first = frames.first, let last = frames.last, (2...3).contains(frames.count) else { return nil }
        return (first, frames[frames.startIndex + 1], frames.count == 3 ? last : nil)
    }

    /// The origin of the next message.
    mutating func next() throws(ProtocolError) -> VerifiedOrigin? {
        guard var reader else { return nil }
        defer { self.reader = reader }
        return try VerifiedOrigin(&reader)
    }

    func end() throws(ProtocolError) {
        try reader?.end()
    }
}
