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
        ConformanceCase("what is no name, or too large, is refused, and nothing of its batch is taken") { fixture in
            try await fixture.withBus { bus in
                let end = try await bus.publish([1])
                for batch in try fixture.unacceptable(from: bus.source) {
                    let error = await #expect(throws: BusError.self) { try await bus.publish(batch) }
                    #expect(error?.code == .refused)
                }
                for name in ConformanceFixture.badNames + [""] {
                    let error = await #expect(throws: BusError.self) { _ = try await bus.claim(consumer: name) }
                    #expect(error?.code == .refused)
                }
                #expect(try await bus.publish(Batch([])) == end)
            }
        },
        ConformanceCase("what is just not too large is taken, and names are of any language") { fixture in
            try await fixture.withBus { bus in
                let name = String(repeating: "é", count: 127) + "!"
                let setting = try Envelope(
                    Setting(name: name, value: String(repeating: "v", count: 1 << 20)), source: bus.source,
                    subject: name)
                let end = try await bus.publish(Batch([setting] + (1..<1024).map { _ in setting.smaller }))
                #expect(end.offset == 1024)
                let claim = try await bus.claim(consumer: name)
                try await bus.publish(Batch([], checkpoint: Checkpoint(claim: claim, position: end)))
                #expect(try await bus.claim(consumer: name).position == end)
                #expect(try await bus.documents(matching: [.type(Setting.self, subject: name)]).count == 1)
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

extension ConformanceFixture {
    /// Too long; with a zero byte; decomposed, which is the same as composed to one and not to another.
    fileprivate static let badNames = [String(repeating: "n", count: 256), "zero\u{0}", "cafe\u{301}"]

    /// Each with one message that is right.
    fileprivate func unacceptable(from source: String) throws -> [Batch] {
        let good = try Envelope(Numbered(number: 1), source: source)
        var bad: [Envelope] = []
        for name in Self.badNames {
            bad.append(try Envelope(Numbered(number: 2), source: source, subject: name))
            bad.append(try Envelope(Setting(name: name, value: ""), source: source))
        }
        var large = good
        large.data = Data(repeating: 0x20, count: 4 * 1024 * 1024 + 1)
        bad.append(large)
        large = good
        large.attributes.correlationID = String(repeating: "c", count: 64 * 1024)
        bad.append(large)
        let misnamed = Attributes(type: MessageType(kind: .event, name: "no name"), source: source)
        bad.append(Envelope(attributes: misnamed, data: good.data))
        let letters: [Int64] = Array(1...1025)
        var settling = Batch([good])
        settling.settledLetters = letters
        return bad.map { Batch([good, $0]) } + [Batch(letters.map { _ in good }), settling]
    }
}

extension Envelope {
    fileprivate var smaller: Envelope {
        var smaller = self
        smaller.data = Data("{}".utf8)
        return smaller
    }
}
