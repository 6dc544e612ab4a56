internal import EventBus
internal import Foundation
internal import TestSupport
internal import Testing

extension ConformanceCase {
    static let publishing = [
        ConformanceCase("Every message has a later position in the journal than those before it") { fixture in
            try await fixture.withBus { bus in
                let first = try await bus.publish([1])
                let second = try await bus.publish([2, 3, 4])
                #expect(second.epoch == first.epoch)
                #expect(second.offset >= first.offset + 3)
                let received = try await bus.withSubscription(to: [.all], from: .beginning) { try await $0.receive(4) }
                #expect(received.offsets == [first.offset, second.offset - 2, second.offset - 1, second.offset])
            }
        },
        ConformanceCase("An empty batch is answered with the end of the journal") { fixture in
            try await fixture.withBus { bus in
                let end = try await bus.publish(1...3)
                #expect(try await bus.publish(Batch([])) == end)
            }
        },
        ConformanceCase("The end of the journal is never before a message that any process has published") { fixture in
            try await fixture.withBuses { first, second in
                let start = try await second.inspect.end()
                for count in 1...20 {
                    let published = try await first.publish(Array(0..<count))
                    #expect(try await second.inspect.end() == published)
                    #expect(try await first.inspect.end() == published)
                }
                let end = try await second.inspect.end()
                try await first.publishTransient([Envelope(Marker(), source: first.source)])
                #expect(try await second.inspect.end() == end)
                #expect(end.epoch == start.epoch)
            }
        },
        ConformanceCase("The messages of a session arrive in the order in which they were published") { fixture in
            try await fixture.withBus { bus in
                let received = try await bus.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                    for number in 0..<100 { try await bus.publish(Counted(number: number), subject: "one") }
                    return try await messages.receive(100)
                }
                #expect(try received.numbers == Array(0..<100))
                #expect(received.offsets == received.offsets.sorted())
            }
        },
        ConformanceCase("A batch arrives whole, at consecutive positions") { fixture in
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
                    return try await messages.receive(80)
                }
                let batches = Dictionary(grouping: received) { $0.attributes.source }
                for messages in batches.values {
                    #expect(try messages.numbers.map { $0 % 10 } == Array(0..<10))
                    let first = try #require(messages.offsets.first)
                    #expect(messages.offsets == Array(first..<first + 10))
                }
            }
        },
        ConformanceCase("A batch with an invalid name or a part that is too large is refused whole") { fixture in
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
                #expect(try await bus.inspect.end() == end)
            }
        },
        ConformanceCase("A batch can be as large as the limit of the bus; a larger one is refused with the limit") {
            fixture in
            try await fixture.withBus { bus in
                let limit = try await bus.maximumBatchSize()
                #expect((240 << 10...8 << 20).contains(limit))
                let batch = { (size: Int) in
                    Batch(
                        try (1...3).map { number in
                            let value = String(repeating: "v", count: size)
                            return try Envelope(Setting(name: "\(number)", value: value), source: bus.source)
                        })
                }
                let tooLarge = try batch(limit / 3 + 1)
                let error = await #expect(throws: BusError.self) { try await bus.publish(tooLarge) }
                #expect(error?.code == .refused)
                #expect(error?.message.contains("\(limit)") == true, "\(error?.message ?? "")")
                #expect(try await bus.documents(matching: [.all]).isEmpty)
                try await bus.publish(try batch(limit / 3 - 1024))
                #expect(try await bus.documents(matching: [.all]).count == 3)
            }
        },
        ConformanceCase("An attribute of more than 255 bytes, or an invalid time, is refused with the attribute's name")
        {
            fixture in
            try await fixture.withBus { bus in
                let end = try await bus.publish([1])
                for (name, message) in try fixture.unacceptableAttributes(from: bus.source) {
                    let error = await #expect(throws: BusError.self) { try await bus.publish(Batch([message])) }
                    #expect(error?.code == .refused)
                    #expect(error?.message.contains("'\(name)' of command.Order") == true, "\(error?.message ?? "")")
                }
                #expect(try await bus.inspect.end() == end)
            }
        },
        ConformanceCase("A query with an attribute of more than 255 bytes is refused", needs: .queries) { fixture in
            try await fixture.withBus { bus in
                var query = try Envelope(Question(number: 1), source: bus.source)
                query.attributes.device = String(repeating: "d", count: 256)
                let error = await #expect(throws: BusError.self) { try await bus.ask(query, timeout: .seconds(5)) }
                #expect(error?.code == .refused)
            }
        },
        ConformanceCase("A command expires as its sender says, otherwise after 60 s if it comes from a view, or never")
        {
            fixture in
            try await fixture.withBus { bus in
                let view = Origin(platform: "ios", device: "phone")
                let tap = try await bus.send(Order(number: 1), origin: view)
                let sent = [
                    tap, try await bus.send(Order(number: 2)),
                    try await bus.send(Order(number: 3), causedBy: tap),
                    try await bus.send(Order(number: 4), origin: view, lifetime: nil),
                    try await bus.send(Order(number: 5), lifetime: .seconds(5)),
                ]
                #expect(
                    sent.map { $0.attributes.expiryTime?.timeIntervalSince($0.attributes.time) }
                        == [60, nil, 60, nil, 5])
                let error = await #expect(throws: BusError.self) {
                    try await bus.send(Order(number: 6), lifetime: .seconds(Int64.max))
                }
                #expect(error?.code == .refused)
            }
        },
        ConformanceCase("A timeout or a time beyond the range of any clock does not trap", needs: .queries) { fixture in
            try await fixture.withBus { bus in
                let end = try await bus.publish([1])
                let error = await #expect(throws: BusError.self) {
                    try await bus.ask(Question(number: 1), timeout: .seconds(Int64.max))
                }
                #expect(error?.code == .unserved)
                for (seconds, count) in [(-Double.infinity, 1), (.nan, 1), (.infinity, 0)] {
                    let date = Date(timeIntervalSince1970: seconds)
                    let found = try await bus.withSubscription(
                        to: [.all], from: .since(date), until: end, onNotice: nil
                    ) { messages in
                        try await messages.reduce(into: 0) { count, _ in count += 1 }
                    }
                    #expect(found == count, "\(seconds)")
                }
            }
        },
        ConformanceCase("A message just below the size limits is published, and names can be in any language") {
            fixture in
            try await fixture.withBus { bus in
                let name = String(repeating: "é", count: 127) + "!"
                let setting = try Envelope(
                    Setting(name: name, value: String(repeating: "v", count: 1 << 20)), source: bus.source,
                    subject: name)
                let end = try await bus.publish(Batch([setting] + (1..<1024).map { _ in setting.smaller }))
                #expect(end.offset >= 1024)
                let claim = try await bus.claim(consumer: name)
                try await bus.publish(Batch([], checkpoint: Checkpoint(claim: claim, upTo: end)))
                #expect(try await bus.claim(consumer: name).position == end)
                #expect(try await bus.documents(matching: [.type(Setting.self, subject: name)]).count == 1)
            }
        },
        ConformanceCase("Attributes of 255 bytes, and times in the years 0000 to 9999, are published") { fixture in
            try await fixture.withBus { bus in
                let text = String(repeating: "a", count: 255)
                let source = "conformance/" + text.dropFirst("conformance/".count)
                var order = try Envelope(Order(number: 1), source: source, origin: Origin(platform: text, device: text))
                order.attributes.id = text
                order.attributes.instance = text
                (order.attributes.correlationID, order.attributes.causationID) = (text, text)
                (order.attributes.traceparent, order.attributes.recipient) = (text, text)
                order.attributes.time = Date(timeIntervalSince1970: -62_167_219_200)
                order.attributes.expiryTime = Date(timeIntervalSince1970: 253_402_300_799.75)
                order.position = try await bus.publish(Batch([order]))
                let received = try await bus.withSubscription(to: [.all], from: .beginning) { try await $0.receive(1) }
                #expect(received == [order])
            }
        },
        ConformanceCase("Attributes and data arrive as they were published") { fixture in
            try await fixture.withBus { bus in
                let cause = try Envelope(Order(number: 1), source: bus.source)
                var sent = try Envelope(
                    Setting(name: "größe", value: "\"7\"\n\u{0} ✓"), source: bus.source, subject: "séance 1",
                    origin: Origin(platform: "ios", device: "phone-1", instance: "list-3"), causedBy: cause)
                sent.attributes.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
                sent.attributes.time = Date(timeIntervalSince1970: 1_700_000_000.125)
                sent.attributes.expiryTime = Date(timeIntervalSince1970: 1_700_000_060.5)
                sent.position = try await bus.publish(Batch([sent]))
                let received = try await bus.withSubscription(to: [.all], from: .beginning) { try await $0.receive(1) }
                #expect(received == [sent])
            }
        },
    ]
}

extension ConformanceFixture {
    /// Invalid names: one is too long, one contains a zero byte, and one is not in Unicode Normalization Form C.
    fileprivate static let badNames = [String(repeating: "n", count: 256), "zero\u{0}", "cafe\u{301}"]

    /// Batches that a bus must refuse. Each also contains a valid message.
    fileprivate func unacceptable(from source: String) throws -> [Batch] {
        let good = try Envelope(Counted(number: 1), source: source)
        var bad: [Envelope] = []
        for name in Self.badNames {
            bad.append(try Envelope(Counted(number: 2), source: source, subject: name))
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
        bad += try unacceptableAttributes(from: source).map(\.message)
        let deadLetters: [Int64] = Array(1...1025)
        var settling = Batch([good])
        settling.resolvedDeadLetters = deadLetters
        return bad.map { Batch([good, $0]) } + [Batch(deadLetters.map { _ in good }), settling]
    }
}

extension ConformanceFixture {
    /// Invalid messages, each with the name of the invalid attribute.
    fileprivate func unacceptableAttributes(from source: String) throws -> [(name: String, message: Envelope)] {
        let long = String(repeating: "a", count: 256)
        let changes: [(String, (inout Attributes) -> Void)] = [
            ("id", { $0.id = long }), ("source", { $0.source = long }),
            ("correlationid", { $0.correlationID = long }), ("causationid", { $0.causationID = long }),
            ("traceparent", { $0.traceparent = long }), ("platform", { $0.platform = long }),
            ("device", { $0.device = long }), ("instance", { $0.instance = long }),
            ("recipient", { $0.recipient = long }),
            ("time", { $0.time = Date(timeIntervalSince1970: -1e12) }),
            ("time", { $0.time = Date(timeIntervalSince1970: .nan) }),
            ("expirytime", { $0.expire(after: .seconds(Int64.max)) }),
            ("expirytime", { $0.expiryTime = Date(timeIntervalSince1970: .infinity) }),
        ]
        return try changes.map { name, change in
            var order = try Envelope(Order(number: 1), source: source)
            change(&order.attributes)
            return (name, order)
        }
    }
}

extension Envelope {
    fileprivate var smaller: Envelope {
        var smaller = self
        smaller.data = Data("{}".utf8)
        return smaller
    }
}

extension ConformanceCase {
    static let transience = [
        ConformanceCase("A transient message reaches the current subscribers, without a position", needs: .transient) {
            fixture in
            try await fixture.withBuses { publisher, reader in
                let received = try await reader.withSubscription(to: [.kind(.event)], from: .now) { messages in
                    try await publisher.publish([1])
                    try await publisher.publish(transient: 2)
                    try await publisher.publish([3])
                    return try await messages.receive(3)
                }
                #expect(try received.numbers == [1, 2, 3])
                #expect(received.map { $0.position == nil } == [false, true, false])
            }
        },
        ConformanceCase("A subscription that begins later does not receive a transient message", needs: .transient) {
            fixture in
            try await fixture.withBus { bus in
                try await bus.publish(transient: 1)
                try await bus.publish(Marker())
                let received = try await bus.withSubscription(to: [.all], from: .beginning) {
                    try await $0.beforeMarker()
                }
                #expect(received.isEmpty)
            }
        },
        ConformanceCase("A transient message does not change the end of the journal", needs: .transient) { fixture in
            try await fixture.withBus { bus in
                let end = try await bus.publish([1])
                try await bus.publish(transient: 2)
                #expect(try await bus.inspect.end() == end)
                #expect(try await bus.publish([3]).offset > end.offset)
                let received = try await bus.withSubscription(to: [.all], from: .beginning) { try await $0.receive(2) }
                #expect(try received.numbers == [1, 3])
            }
        },
        ConformanceCase("A document cannot be transient", needs: .transient) { fixture in
            try await fixture.withBus { bus in
                let received = try await bus.withSubscription(to: [.all], from: .now) { messages in
                    let error = await #expect(throws: BusError.self) {
                        let event = try Envelope(Counted(number: 1), source: bus.source)
                        let document = try Envelope(Setting(value: "1"), source: bus.source)
                        try await bus.publishTransient([event, document])
                    }
                    #expect(error?.code == .refused)
                    try await bus.publish(Marker())
                    return try await messages.beforeMarker()
                }
                #expect(received.isEmpty)
                #expect(try await bus.document(Setting.self) == nil)
            }
        },
        ConformanceCase("A durable consumer does not receive transient messages", needs: .transient) { fixture in
            try await fixture.withBus { bus in
                let claim = try await bus.claim(consumer: "counter")
                let received = try await bus.withSubscription(to: [.all], under: claim) { messages in
                    try await bus.publish(transient: 1)
                    try await bus.publish([2])
                    return try await messages.receive(1)
                }
                #expect(try received.numbers == [2])
            }
        },
    ]
}

extension EventBus {
    fileprivate func publish(transient number: Int) async throws {
        try await publishTransient([try Envelope(Counted(number: number), source: source)])
    }
}
