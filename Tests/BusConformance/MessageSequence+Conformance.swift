internal import EventBus

extension MessageSequence {
    /// The next `count` messages.
    func take(_ count: Int) async throws -> [Envelope] {
        var messages: [Envelope] = []
        guard count > 0 else { return messages }
        for try await message in self {
            messages.append(message)
            if messages.count == count { break }
        }
        return messages
    }

    /// The messages before the next ``Marker``: publish one to learn that nothing else came.
    func beforeMarker() async throws -> [Envelope] {
        var messages: [Envelope] = []
        for try await message in self {
            if message.type == Marker.type { break }
            messages.append(message)
        }
        return messages
    }
}

extension Sequence<Envelope> {
    var numbers: [Int] {
        get throws { try map { try $0.decode(Numbered.self).number } }
    }

    var offsets: [UInt64] { compactMap(\.position?.offset) }
}
