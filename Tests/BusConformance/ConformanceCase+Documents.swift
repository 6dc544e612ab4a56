internal import EventBus
internal import Foundation
internal import TestSupport
internal import Testing

extension ConformanceCase {
    static let documents = [
        ConformanceCase("The last document of each type, session and key is retained") { fixture in
            try await fixture.withBus { bus in
                try await bus.publish(Setting(value: "old"))
                try await bus.publish(Setting(value: "new"))
                try await bus.publish(Setting(value: "elsewhere"), subject: "two")
                try await bus.publish(Setting(name: "a", value: "keyed"))
                #expect(try await bus.document(Setting.self)?.value == "new")
                #expect(try await bus.document(Setting.self, subject: "two")?.value == "elsewhere")
                #expect(try await bus.document(Setting.self, key: "a")?.value == "keyed")
                #expect(try await bus.document(Setting.self, key: "b") == nil)
                let all = try await bus.documents(matching: [.type(Setting.self)])
                #expect(try all.map { try $0.decode(Setting.self).value } == ["new", "elsewhere", "keyed"])
            }
        },
        ConformanceCase("A document is found by its type, session and key among all others") { fixture in
            try await fixture.withBus { bus in
                for number in 0..<20 {
                    try await bus.publish(Setting(name: "\(number)", value: "first"))
                    try await bus.publish(Setting(name: "\(number)", value: "\(number)"))
                    try await bus.publish(Setting(name: "\(number)", value: "elsewhere"), subject: "session-\(number)")
                }
                try await bus.withdraw(Setting(name: "7", value: ""))
                for number in 0..<20 {
                    let found = try await bus.document(Setting.self, key: "\(number)")
                    #expect(found?.value == (number == 7 ? nil : "\(number)"))
                }
                #expect(try await bus.document(Setting.self, key: "20") == nil, "it was never published")
                #expect(try await bus.document(Setting.self) == nil, "there is no document without a key")
                #expect(try await bus.document(Setting.self, subject: "session-20", key: "1") == nil)
                let found = try await bus.document(Setting.type, subject: "session-3", key: "3")
                let all = try await bus.documents(matching: [.type(Setting.self, subject: "session-3")])
                #expect(all == [found], "documents(matching:) returns the same message")
            }
        },
        ConformanceCase("Documents are read in pages, in the order of their last publication") { fixture in
            try await fixture.withBus { bus in
                for number in 0..<600 { try await bus.publish(Setting(name: "\(number)", value: "first")) }
                try await bus.publish(Setting(name: "0", value: "second"))
                var names: [String?] = []
                var offset: UInt64 = 0
                while true {
                    let page = try await bus.documents(matching: [.type(Setting.self)], after: offset, limit: 250)
                    guard let last = page.last?.position else { break }
                    #expect(page.count <= 250)
                    names += page.map(\.attributes.key)
                    offset = last.offset
                }
                #expect(names == ((1..<600) + [0]).map { "\($0)" })
            }
        },
        ConformanceCase("An empty key of a document is the same as no key") { fixture in
            try await fixture.withBus { bus in
                try await bus.publish(Setting(name: "", value: "empty"))
                #expect(try await bus.document(Setting.self)?.value == "empty")
                #expect(try await bus.document(Setting.self, key: "")?.value == "empty")
                try await bus.publish(Setting(value: "none"))
                #expect(try await bus.document(Setting.self, key: "")?.value == "none")
                #expect(try await bus.documents(matching: [.type(Setting.self)]).count == 1)
            }
        },
        ConformanceCase("A look-up is refused if its type is not a document or its session is invalid") { fixture in
            try await fixture.withBus { bus in
                for (type, subject) in [(Counted.type, Session.default), (Setting.type, "e\u{301}")] {
                    let error = await #expect(throws: BusError.self) {
                        try await bus.document(type, subject: subject, key: nil)
                    }
                    #expect(error?.code == .refused)
                }
            }
        },
        ConformanceCase("A withdrawn document is no longer retained, and its subscribers receive the withdrawal") {
            fixture in
            try await fixture.withBus { bus in
                try await bus.publish(Setting(name: "a", value: "1"))
                try await bus.publish(Setting(name: "b", value: "2"))
                let received = try await bus.withSubscription(to: [.kind(.document)], from: .now) { messages in
                    try await bus.withdraw(Setting(name: "a", value: ""))
                    return try await messages.receive(1)
                }
                #expect(received.map(\.isTombstone) == [true])
                #expect(received.map(\.attributes.key) == ["a"])
                #expect(try await bus.document(Setting.self, key: "a") == nil)
                #expect(try await bus.document(Setting.self, key: "b")?.value == "2")
            }
        },
        ConformanceCase(
            "A leased document is withdrawn when its publisher ends, any other document stays", needs: .leases
        ) { fixture in
            try await fixture.withBus("conformance/reader") { reader in
                try await reader.withSubscription(to: [.type(Setting.self)], from: .now) { messages in
                    try await fixture.withBus("conformance/leaver") { leaver in
                        let leased = try Envelope(Setting(name: "leased", value: "1"), source: leaver.source)
                        try await leaver.publish(Batch([leased], isLeased: true))
                        try await leaver.publish(Setting(name: "kept", value: "2"))
                        #expect(try await reader.document(Setting.self, key: "leased")?.value == "1")
                    }
                    let last = try await messages.receive(3).last
                    #expect(last?.isTombstone == true)
                    #expect(last?.attributes.key == "leased")
                    #expect(try await reader.document(Setting.self, key: "leased") == nil)
                    #expect(try await reader.document(Setting.self, key: "kept")?.value == "2")
                }
            }
        },
    ]
}

extension ConformanceCase {
    static let reading = [
        ConformanceCase("The bus knows the position of the newest message of a type or a kind") { fixture in
            try await fixture.withBus { bus in
                let end = try await bus.publish([1, 2])
                let none = try await bus.inspect.newest(matching: [.type(Other.self), .kind(.command)])
                #expect(none == Position(epoch: end.epoch, offset: 0))
                let other = try #require(try await bus.publish(Other(number: 3)).position)
                let setting = try #require(try await bus.publish(Setting(value: "4")).position)
                #expect(try await bus.inspect.newest(matching: [.type(Counted.self)]) == end)
                #expect(try await bus.inspect.newest(matching: [.kind(.event)]) == other)
                #expect(try await bus.inspect.newest(matching: [.type(Order.self), .type(Setting.self)]) == setting)
                #expect(try await bus.inspect.newest(matching: [.all]) == (try await bus.inspect.end()))
                // One type may have several topics.
                let numbered = try await bus.publish([5], subject: "other")
                let newest = try await bus.inspect.newestOfEachType(matching: [.kind(.event), .type(Order.self)])
                #expect(newest == [Counted.type: numbered, Other.type: other])
            }
        },
        ConformanceCase("The lag is the number of messages after a position that match a filter") { fixture in
            try await fixture.withBus { bus in
                let first = try await bus.publish(0..<4)
                try await bus.publish(Other(number: 4))
                for subject in 0..<5 { try await bus.publish([subject], subject: "session-\(subject)") }
                let end = try await bus.publish(5..<7)
                let middle = Position(epoch: first.epoch, offset: first.offset - 1)
                let beginning = Position(epoch: first.epoch, offset: 0)
                let foreign = Position(epoch: first.epoch ^ 1, offset: first.offset)
                let beyond = Position(epoch: first.epoch, offset: end.offset + 1)
                for (position, filters, lag) in [
                    (first, [.type(Counted.self)], 7), (first, [.type(Other.self)], 1), (first, [.kind(.event)], 8),
                    (first, [.all, .type(Counted.self)], 8), (first, [.kind(.command)], 0), (first, [], 0),
                    (middle, [.type(Counted.self)], 8), (beginning, [.type(Counted.self)], 11),
                    (beginning, [.all], 12), (end, [.all], 0), (beyond, [.all], 0),
                    (foreign, [.type(Counted.self)], 11),
                ] as [(Position, [MessageFilter], UInt64)] {
                    #expect(
                        try await bus.inspect.lag(after: position, matching: filters) == lag, "\(position), \(filters)")
                }
            }
        },
        ConformanceCase("A lag is counted up to 10,000") { fixture in
            try await fixture.withBus { bus in
                let start = try #require(try await bus.publish(Other(number: 0)).position)
                for batch in 0..<10 { try await bus.publish(batch * 1000..<batch * 1000 + 1000) }
                let beginning = Position(epoch: start.epoch, offset: 0)
                #expect(try await bus.inspect.lag(after: beginning, matching: [.type(Counted.self)]) == 10_000)
                try await bus.publish([10_000], subject: "other")
                for position in [beginning, start] {
                    for filter in [MessageFilter.all, .type(Counted.self)] {
                        #expect(try await bus.inspect.lag(after: position, matching: [filter]) == 10_000, "\(filter)")
                    }
                    #expect(try await bus.inspect.lag(after: position, matching: [.kind(.command)]) == 0)
                }
            }
        },
        ConformanceCase("A journal can be read in stretches of some messages, backwards and forwards") { fixture in
            try await fixture.withBus { bus in
                for batch in 0..<20 { try await bus.publish(batch * 10..<batch * 10 + 10) }
                let end = try await bus.inspect.end()
                var (numbers, stretchEnd) = ([Int](), end)
                while stretchEnd.offset > 0 {
                    let start = try await bus.inspect.position(stretchEnd, offsetBy: -30)
                    try #require(start.epoch == end.epoch && start.offset < stretchEnd.offset)
                    numbers = try await bus.numbers(after: start, through: stretchEnd) + numbers
                    stretchEnd = start
                }
                #expect(numbers == Array(0..<200))
                (numbers, stretchEnd) = ([], Position(epoch: end.epoch, offset: 0))
                while stretchEnd.offset < end.offset {
                    let start = stretchEnd
                    let next = try await bus.inspect.position(start, offsetBy: 30)
                    try #require(next.epoch == end.epoch && next.offset > start.offset)
                    stretchEnd = Position(epoch: end.epoch, offset: min(next.offset, end.offset))
                    numbers += try await bus.numbers(after: start, through: stretchEnd)
                }
                #expect(numbers == Array(0..<200))
                #expect(try await bus.inspect.position(end, offsetBy: .min).offset == 0)
                #expect(try await bus.inspect.position(end, offsetBy: .max).offset >= end.offset)
            }
        },
        ConformanceCase("A slow reader receives all messages, and does not slow down another reader") { fixture in
            try await fixture.withBus("conformance/slow") { slow in
                try await slow.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                    // The reader receives no message until all are published. Meanwhile they wait in the journal.
                    try await fixture.withBus("conformance/fast") { fast in
                        let received = try await fast.withSubscription(to: [.type(Counted.self)], from: .now) { live in
                            for start in stride(from: 0, to: 20_000, by: 500) {
                                try await fast.publish(start..<start + 500)
                            }
                            return try await live.receive(20_000)
                        }
                        #expect(try received.numbers == Array(0..<20_000))
                    }
                    #expect(try await messages.receive(20_000).numbers == Array(0..<20_000))
                }
            }
        },
        ConformanceCase("A waiting reader stops at once when it is cancelled, and another can continue") { fixture in
            try await fixture.withBus { bus in
                try await bus.withSubscription(to: [.all], from: .now) { messages in
                    await #expect(throws: CancellationError.self) {
                        try await withThrowingTaskGroup { group in
                            group.addTask { _ = try await messages.receive(1) }
                            group.cancelAll()
                            try await group.waitForAll()
                        }
                    }
                    try await bus.publish([1])
                    #expect(try await messages.receive(1).numbers == [1])
                }
            }
        },
        ConformanceCase("Data that does not match its type is delivered unchanged, and so are the messages after it") {
            fixture in
            try await fixture.withBus { bus in
                try await bus.withSubscription(to: [.all], from: .now) { messages in
                    let attributes = Attributes(type: Counted.type, source: bus.source)
                    let malformed = Envelope(attributes: attributes, data: Data(#"{"number":"seven"}"#.utf8))
                    try await bus.publish(Batch([malformed]))
                    try await bus.publish([8])
                    let received = try await messages.receive(2)
                    let error = #expect(throws: BusError.self) { try received[0].decode(Counted.self) }
                    #expect(error?.code == .malformed)
                    #expect(error?.message.contains("number") == true)
                    #expect(try received[1].decode(Counted.self).number == 8)
                }
            }
        },
    ]
}

extension EventBus {
    /// The numbered events after a position and up to another one.
    fileprivate func numbers(after start: Position, through end: Position) async throws -> [Int] {
        try await withSubscription(to: [.type(Counted.self)], from: .after(start), until: end, onNotice: nil) {
            try await $0.receive(.max).numbers
        }
    }
}
