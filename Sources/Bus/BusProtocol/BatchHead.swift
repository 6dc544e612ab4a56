/// A batch whose messages have yet to be read: the broker journals them straight from the frame that brought them.
/// Frames: those of ``PublishRequest``.
package struct BatchHead: Hashable, Sendable {
    package let producer: ProducerID
    package let sequence: UInt64
    package let isLeased: Bool
    package let isTransient: Bool
    package let checkpoint: CheckpointFrame?
    package let rejection: RejectionFrame?
    package let settledLetters: [Int64]
    /// How many messages there are.
    package let count: Int
    /// The messages, one behind the other.
    package let messages: [UInt8]

    struct Flags: OptionSet {
        let rawValue: UInt8
        static let leased = Flags(rawValue: 1)
        static let checkpoint = Flags(rawValue: 2)
        static let rejection = Flags(rawValue: 4)
        static let settledLetters = Flags(rawValue: 8)
        static let transient = Flags(rawValue: 16)
        static let all: Flags = [.leased, .checkpoint, .rejection, .settledLetters, .transient]
    }

    package init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        var rest = frames
        var batch = ByteReader(try Self.next(&rest, "batch"))
        producer = try ProducerID(&batch)
        sequence = try batch.read()
        let flags = Flags(rawValue: try batch.read())
        count = Int(try batch.read(UInt16.self))
        try batch.end()
        guard flags.isSubset(of: .all) else {
            throw ProtocolError(.malformed, "a batch has a flag that is not known")
        }
        guard count <= Limits.batchCount else {
            throw ProtocolError(.tooLarge, "a batch has at most \(Limits.batchCount) messages")
        }
        isLeased = flags.contains(.leased)
        isTransient = flags.contains(.transient)
        checkpoint = flags.contains(.checkpoint) ? try CheckpointFrame(try Self.next(&rest, "checkpoint")) : nil
        rejection = flags.contains(.rejection) ? try RejectionFrame(try Self.next(&rest, "rejection")) : nil
        settledLetters =
            flags.contains(.settledLetters) ? try Self.letters(try Self.next(&rest, "settled letters")) : []
        messages = count > 0 ? try Self.next(&rest, "messages") : []
        guard rest.isEmpty else { throw ProtocolError(.malformed, "publish has too many frames") }
        guard rejection == nil || checkpoint != nil else {
            throw ProtocolError(.malformed, "a rejection needs the checkpoint of what is rejected")
        }
        guard !isTransient || flags == .transient else {
            throw ProtocolError(.malformed, "a transient batch has nothing but messages")
        }
    }

    private static func next(_ frames: inout ArraySlice<[UInt8]>, _ name: String) throws(ProtocolError) -> [UInt8] {
        guard let frame = frames.popFirst() else {
            throw ProtocolError(.malformed, "publish lacks its frame '\(name)'")
        }
        return frame
    }

    private static func letters(_ frame: [UInt8]) throws(ProtocolError) -> [Int64] {
        var reader = ByteReader(frame)
        var letters: [Int64] = []
        while !reader.isAtEnd {
            letters.append(Int64(bitPattern: try reader.read()))
        }
        guard !letters.isEmpty, letters.count <= Limits.batchCount else {
            throw ProtocolError(.tooLarge, "a batch settles 1 to \(Limits.batchCount) dead letters")
        }
        return letters
    }
}
