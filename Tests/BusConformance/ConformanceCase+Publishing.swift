internal import EventBus
internal import Foundation
internal import Testing

extension ConformanceCase {
    static let publishing = [
        ConformanceCase("every message gets the next position of one journal") { fixture in
            try await fixture.withBus { bus in
                let first = try await bus.publish([1])
                let second = try await bus.publish([2, 3, 4])
                #expect(second.epoch == first.epoch)
                #expect(second.offset == first.offset + 3)
            }
        },
        ConformanceCase("an empty batch answers with the journal's end") { fixture in
            try await fixture.withBus { bus in
                let end = try await bus.publish(1...3)
                #expect(try await bus.publish(Batch([])) == end)
            }
        },
        ConformanceCase("messages of one subject arrive in the order of their publishing") { fixture in
            try await fixture.withBus { bus in
                let received = try await bus.withSubscription(to: [.type(Numbered.self)], from: .now) { messages in
                    for number in 0..<100 { try await bus.publish(Numbered(number: number), subject: "one") }
                    return try await messages.take(100)
                }
                #expect(try received.numbers == Array(0..<100))
                #expect(received.offsets == received.offsets.sorted())
            }
        },
        ConformanceCase("a batch arrives whole, at positions that follow one another") { fixture in
            try await fixture.withBus("conformance/reader") { reader in
                let received = try await reader.withSubscription(to: [.all], from: .now) { messages in
                    try await withThrowingTaskGroup { group in
                        for batch in 0..<8 {
                            group.addTask {
                                try await fixture.withBus("conformance/\(batch)") { bus in
                                    try await bus.publish(batch * 10..<batch * 10 + 10)
                                }
                            }
                        }
                        try await group.waitForAll()
                    }
                    return try await messages.take(80)
                }
                let batches = Dictionary(grouping: received) { $0.attributes.source }
                for messages in batches.values {
                    #expect(try messages.numbers.map { $0 % 10 } == Array(0..<10))
                    let first = try #require(messages.offsets.first)
                    #expect(messages.offsets == Array(first..<first + 10))
                }
            }
        },
        ConformanceCase("attributes and data arrive as they were published") { fixture in
            try await fixture.withBus { bus in
                let cause = try Envelope(Order(number: 1), source: bus.source)
                var sent = try Envelope(
                    Setting(name: "größe", value: "\"7\"\n\u{0} ✓"), source: bus.source, subject: "séance 1",
                    origin: Origin(platform: "ios", device: "phone-1", instance: "list-3"), causedBy: cause)
                sent.attributes.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
                sent.attributes.time = Date(timeIntervalSince1970: 1_700_000_000.125)
                sent.attributes.expiryTime = Date(timeIntervalSince1970: 1_700_000_060.5)
                sent.position = try await bus.publish(Batch([sent]))
                let received = try await bus.withSubscription(to: [.all], from: .beginning) { try await $0.take(1) }
                #expect(received == [sent])
            }
        },
    ]
}
