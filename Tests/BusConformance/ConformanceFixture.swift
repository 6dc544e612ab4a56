internal import EventBus

/// What a case works with: buses that run for as long as it needs them.
struct ConformanceFixture: Sendable {
    let make: ConformanceCase.MakeBus

    /// Connects a process to the bus for as long as `body` runs.
    func withBus<Result: Sendable>(
        _ source: String = "conformance/1", _ body: @escaping @Sendable (any EventBus) async throws -> Result
    ) async throws -> Result {
        let bus = try await make(source)
        return try await bus.whileOpen { try await body(bus) }
    }
}

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
