/// The first frame of a batch: whose it is, which, and of what kind. What the frames behind it say has yet to be read: a
/// batch that is refused for it still has its place among the others of its producer.
/// Frames: those of ``PublishRequest``.
package struct BatchHead: Hashable, Sendable {
    package let producer: ProducerID
    package let sequence: UInt64
    let flags: Flags
    /// How many messages there are.
    package let count: Int
    /// The frames behind the first.
    let rest: ArraySlice<[UInt8]>

    struct Flags: OptionSet, Hashable {
        let rawValue: UInt8
        static let leased = Flags(rawValue: 1)
        static let checkpoint = Flags(rawValue: 2)
        static let rejection = Flags(rawValue: 4)
        static let settledLetters = Flags(rawValue: 8)
        static let transient = Flags(rawValue: 16)
        static let all: Flags = [.leased, .checkpoint, .rejection, .settledLetters, .transient]
    }

    package init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        guard let first = frames.first else { throw ProtocolError(.malformed, "publish lacks its frame 'batch'") }
        var reader = ByteReader(first)
        producer = try ProducerID(&reader)
        sequence = try reader.read()
        flags = Flags(rawValue: try reader.read())
        count = Int(try reader.read(UInt16.self))
        try reader.end()
        rest = frames.dropFirst()
    }

    package var isLeased: Bool { flags.contains(.leased) }
    package var isTransient: Bool { flags.contains(.transient) }
}
