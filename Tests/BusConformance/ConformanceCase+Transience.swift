internal import EventBus
internal import Testing

extension ConformanceCase {
    static let transience = [
        ConformanceCase("a transient message reaches whoever listens, without a position", needs: .transient) {
            fixture in
            try await fixture.withBuses { publisher, reader in
                let received = try await reader.withSubscription(to: [.kind(.event)], from: .now) { messages in
                    try await publisher.publish([1])
                    try await publisher.publish(transient: 2)
                    try await publisher.publish([3])
                    return try await messages.take(3)
                }
                #expect(try received.numbers == [1, 2, 3])
                #expect(received.map { $0.position == nil } == [false, true, false])
            }
        },
        ConformanceCase("whoever comes later does not get a transient message", needs: .transient) { fixture in
            try await fixture.withBus { bus in
                try await bus.publish(transient: 1)
                try await bus.publish(Marker())
                let received = try await bus.withSubscription(to: [.all], from: .beginning) {
                    try await $0.beforeMarker()
                }
                #expect(received.isEmpty)
            }
        },
        ConformanceCase("a transient message takes no place in the journal", needs: .transient) { fixture in
            try await fixture.withBus { bus in
                let end = try await bus.publish([1])
                try await bus.publish(transient: 2)
                #expect(try await bus.publish(Batch([])) == end)
                #expect(try await bus.publish([3]).offset == end.offset + 1)
            }
        },
        ConformanceCase("a document cannot be transient", needs: .transient) { fixture in
            try await fixture.withBus { bus in
                let received = try await bus.withSubscription(to: [.all], from: .now) { messages in
                    let error = await #expect(throws: BusError.self) {
                        let event = try Envelope(Numbered(number: 1), source: bus.source)
                        let document = try Envelope(Setting(value: "1"), source: bus.source)
                        try await bus.publish(Batch([event, document], isTransient: true))
                    }
                    #expect(error?.code == .refused)
                    try await bus.publish(Marker())
                    return try await messages.beforeMarker()
                }
                #expect(received.isEmpty)
                #expect(try await bus.document(Setting.self) == nil)
            }
        },
        ConformanceCase("transient messages are not for durable consumers", needs: .transient) { fixture in
            try await fixture.withBus { bus in
                let claim = try await bus.claim(consumer: "counter")
                let received = try await bus.withSubscription(to: [.all], under: claim) { messages in
                    try await bus.publish(transient: 1)
                    try await bus.publish([2])
                    return try await messages.take(1)
                }
                #expect(try received.numbers == [2])
            }
        },
    ]
}

extension EventBus {
    fileprivate func publish(transient number: Int) async throws {
        try await publish(Batch([try Envelope(Numbered(number: number), source: source)], isTransient: true))
    }
}
