package import EventBus

/// All that a client answers, from now on. Frames: producer (16) | one type each.
package struct ServeRequest: Hashable, Sendable {
    /// Whose falling silent ends the service.
    package let producer: ProducerID
    package let types: [MessageType]

    package init(producer: ProducerID, types: [MessageType]) {
        self.producer = producer
        self.types = types
    }

    package init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        guard let first = frames.first else { throw ProtocolError(.malformed, "serve lacks its producer") }
        var reader = ByteReader(first)
        producer = try ProducerID(&reader)
        try reader.end()
        guard frames.count - 1 <= Limits.filterCount else {
            throw ProtocolError(.tooLarge, "a client serves at most \(Limits.filterCount) queries")
        }
        var types: [MessageType] = []
        for frame in frames.dropFirst() {
            guard let text = String(validating: frame, as: UTF8.self), let type = MessageType(text),
                type.kind == .query
            else { throw ProtocolError(.topic, "only queries can be served") }
            types.append(type)
        }
        self.types = types
    }

    package var frames: [[UInt8]] {
        [producer.bytes] + types.map { Array($0.description.utf8) }
    }
}
