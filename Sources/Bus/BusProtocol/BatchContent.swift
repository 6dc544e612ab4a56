internal import EventBus

/// What stands behind the ``BatchHead``. The messages have yet to be read: the broker journals them straight from the frame
/// that brought them.
package struct BatchContent: Hashable, Sendable {
    package let checkpoint: CheckpointFrame?
    package let rejection: RejectionFrame?
    package let settledLetters: [Int64]
    /// The messages, one behind the other.
    package let messages: [UInt8]

    package init(of head: BatchHead) throws(ProtocolError) {
        let flags = head.flags
        guard flags.isSubset(of: .all) else {
            throw ProtocolError(.malformed, "a batch has a flag that is not known")
        }
        guard head.count <= Limits.batchCount else {
            throw ProtocolError(.tooLarge, "a batch has at most \(Limits.batchCount) messages")
        }
        var rest = head.rest
        checkpoint = flags.contains(.checkpoint) ? try CheckpointFrame(try Self.next(&rest, "checkpoint")) : nil
        rejection = flags.contains(.rejection) ? try RejectionFrame(try Self.next(&rest, "rejection")) : nil
        settledLetters =
            flags.contains(.settledLetters) ? try Self.letters(try Self.next(&rest, "settled letters")) : []
        messages = head.count > 0 ? try Self.next(&rest, "messages") : []
        guard rest.isEmpty else { throw ProtocolError(.malformed, "publish has too many frames") }
        guard rejection == nil || checkpoint != nil else {
            throw ProtocolError(.malformed, "a rejection needs the checkpoint of what is rejected")
        }
        guard !head.isTransient || flags == .transient else {
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
