internal import EventBus
internal import Foundation
internal import TestSupport
internal import Testing

extension ConformanceCase {
    static let starting = [
        ConformanceCase("A subscription until a position ends there, even if no message matches") { fixture in
            try await fixture.withBus { bus in
                try await bus.publish(0..<5)
                let end = try #require(try await bus.publish(Other(number: 1)).position)
                try await bus.publish(5..<8)
                try await bus.publish(Setting(name: "a", value: "behind"))
                for (start, filter, count) in [
                    (StartPosition.beginning, MessageFilter.type(Counted.self), 5), (.beginning, .all, 6),
                    (.after(end), .all, 0), (.now, .all, 0), (.retained, .type(Setting.self), 0),
                ] {
                    let received = try await bus.withSubscription(to: [filter], from: start, until: end, onNotice: nil)
                    {
                        try await $0.receive(.max)
                    }
                    #expect(received.count == count, "from \(start)")
                }
            }
        },
        ConformanceCase("A subscription until a later position waits for it") { fixture in
            try await fixture.withBus { bus in
                let now = try await bus.publish(0..<2)
                let end = Position(epoch: now.epoch, offset: now.offset + 3)
                let received = try await bus.withSubscription(
                    to: [.type(Counted.self)], from: .beginning, until: end, onNotice: nil
                ) { messages in
                    try await bus.publish(2..<4)
                    try await bus.publish(Other(number: 1))
                    try await bus.publish([4])
                    return try await messages.receive(.max)
                }
                // A bus can leave out offsets, so the position can be before the first of these messages.
                let all = try await bus.withSubscription(to: [.type(Counted.self)], from: .beginning) {
                    try await $0.receive(5)
                }
                #expect(received == all.filter { $0.position.map { $0.offset <= end.offset } ?? false })
                #expect(try received.numbers.starts(with: [0, 1]))
            }
        },
        ConformanceCase("A subscription until a position of another journal is refused") { fixture in
            try await fixture.withBus { bus in
                let position = try await bus.publish(0..<5)
                let foreign = Position(epoch: position.epoch ^ 1, offset: 2)
                let error = await #expect(throws: BusError.self) {
                    try await bus.withSubscription(to: [.all], from: .beginning, until: foreign, onNotice: nil) {
                        _ = try await $0.receive(1)
                    }
                }
                #expect(error?.code == .epoch)
            }
        },
        ConformanceCase("A subscription from now receives what is published from then on, and nothing older") {
            fixture in
            try await fixture.withBus { bus in
                try await bus.publish(0..<5)
                let received = try await bus.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                    try await bus.publish(5..<8)
                    return try await messages.receive(3)
                }
                #expect(try received.numbers == [5, 6, 7])
            }
        },
        ConformanceCase("A subscription from the beginning receives the whole journal, then what follows") { fixture in
            try await fixture.withBus { bus in
                try await bus.publish(0..<5)
                let received = try await bus.withSubscription(to: [.all], from: .beginning) { messages in
                    try await bus.publish(5..<8)
                    return try await messages.receive(8)
                }
                #expect(try received.numbers == Array(0..<8))
            }
        },
        ConformanceCase("A subscription after a position continues with the next message") { fixture in
            try await fixture.withBus { bus in
                let position = try await bus.publish(0..<5)
                try await bus.publish(5..<7)
                let received = try await bus.withSubscription(to: [.all], from: .after(position)) { messages in
                    try await bus.publish([7])
                    return try await messages.receive(3)
                }
                #expect(try received.numbers == [5, 6, 7])
            }
        },
        ConformanceCase("A subscription after a position of another journal is refused") { fixture in
            try await fixture.withBus { bus in
                let position = try await bus.publish(0..<5)
                let foreign = Position(epoch: position.epoch ^ 1, offset: 2)
                let error = await #expect(throws: BusError.self) {
                    try await bus.withSubscription(to: [.all], from: .after(foreign)) { _ = try await $0.receive(1) }
                }
                #expect(error?.code == .epoch)
            }
        },
        ConformanceCase("A subscription after a position beyond the end of the journal is refused") { fixture in
            try await fixture.withBus { bus in
                let end = try await bus.publish([1])
                let behind = Position(epoch: end.epoch, offset: end.offset + 1)
                let error = await #expect(throws: BusError.self) {
                    try await bus.withSubscription(to: [.all], from: .after(behind)) { _ in }
                }
                #expect(error?.code == .epoch)
            }
        },
        ConformanceCase(
            "A subscription since a time receives what was recorded then or later, then what follows",
            onNATS:
                "the time is that of the leading server; after a change of leaders it is as exact as the servers' clocks agree"
        ) {
            fixture in
            try await fixture.withBus { bus in
                try await bus.publish([0])
                // Times are recorded in milliseconds: publishes until enough milliseconds have passed.
                let first = Date()
                var last = 0
                repeat {
                    last += 1
                    try await bus.publish([last])
                } while Date() < first.addingTimeInterval(0.01)
                let time = Date()
                try await bus.publish(Other(number: 1))
                let received = try await bus.withSubscription(to: [.all], from: .since(time)) { messages in
                    try await bus.publish(Marker())
                    return try await messages.beforeMarker()
                }
                #expect(received.last?.type == Other.type)
                #expect(try !received.dropLast().numbers.contains(0))
                let all = try await bus.withSubscription(to: [.all], from: .since(.distantPast)) {
                    try await $0.beforeMarker()
                }
                #expect(all.count == last + 2)
            }
        },
        ConformanceCase("A subscription from retained receives the last of each document, then what follows") {
            fixture in
            try await fixture.withBus { bus in
                try await bus.publish(Setting(name: "a", value: "1"))
                try await bus.publish([1])
                try await bus.publish(Setting(name: "b", value: "2"))
                try await bus.publish(Setting(name: "a", value: "3"))
                let received = try await bus.withSubscription(to: [.all], from: .retained) { messages in
                    try await bus.publish(Setting(name: "c", value: "4"))
                    return try await messages.receive(3)
                }
                #expect(try received.map { try $0.decode(Setting.self).value } == ["2", "3", "4"])
            }
        },
    ]
}

extension ConformanceCase {
    static let pastAndLive = [
        ConformanceCase("A reader that goes from past to live messages misses none and receives none twice") {
            fixture in
            try await fixture.withBus { bus in
                let middle = try await bus.publish(0..<50)
                let time = Date()
                try await bus.publish(50..<100)
                try await withThrowingTaskGroup { group in
                    for publisher in 0..<4 {
                        group.addTask {
                            for number in 0..<100 { try await bus.publish([100 + publisher * 100 + number]) }
                        }
                    }
                    for (start, first) in [(StartPosition.beginning, 0), (.after(middle), 50), (.after(middle), 50)] {
                        group.addTask {
                            let received = try await bus.withSubscription(to: [.all], from: start) {
                                try await $0.receive(500 - first)
                            }
                            #expect(try Set(received.numbers) == Set(first..<500))
                            #expect(received == Array(try await bus.receive(500).dropFirst(first)))
                        }
                    }
                    group.addTask {
                        let received = try await bus.withSubscription(to: [.all], from: .since(time)) {
                            try await $0.untilAll(450) { $0 >= 50 }
                        }
                        // Messages that were recorded in the same millisecond may be delivered, too.
                        #expect(received.count >= 450)
                        #expect(received == (try await bus.receive(500).suffix(received.count)))
                    }
                    group.addTask {
                        let claim = try await bus.claim(consumer: "reader")
                        let received = try await bus.withSubscription(to: [.all], under: claim) {
                            try await $0.receive(500)
                        }
                        #expect(received == (try await bus.receive(500)))
                    }
                    try await group.waitForAll()
                }
            }
        },
        ConformanceCase("A subscription from retained misses no later change, and receives none twice") {
            fixture in
            try await fixture.withBus { bus in
                try await bus.publish(Setting(name: "a", value: "0"))
                try await withThrowingTaskGroup { group in
                    group.addTask {
                        for value in 1...300 { try await bus.publish(Setting(name: "a", value: "\(value)")) }
                    }
                    for _ in 0..<4 {
                        group.addTask {
                            let values = try await bus.withSubscription(to: [.all], from: .retained) { messages in
                                var values: [Int] = []
                                for try await message in messages {
                                    values.append(try #require(Int(message.decode(Setting.self).value)))
                                    if values.last == 300 { break }
                                }
                                return values
                            }
                            #expect(values == Array((values.first ?? 0)...300))
                        }
                    }
                    try await group.waitForAll()
                }
            }
        },
    ]
}

extension MessageSequence {
    /// The messages up to the last one of `count` messages with a wanted number.
    fileprivate func untilAll(_ count: Int, _ isWanted: (Int) -> Bool) async throws -> [Envelope] {
        var (messages, wanted): ([Envelope], Int) = ([], 0)
        for try await message in self {
            messages.append(message)
            if try isWanted(message.decode(Counted.self).number) { wanted += 1 }
            if wanted == count { break }
        }
        return messages
    }
}

extension EventBus {
    /// The first `count` messages of the journal.
    fileprivate func receive(_ count: Int) async throws -> [Envelope] {
        try await withSubscription(to: [.all], from: .beginning) { try await $0.receive(count) }
    }
}

extension ConformanceCase {
    static let filtering = [
        ConformanceCase("A filter by kind selects all types of that kind") { fixture in
            let types = try await fixture.types(passing: [.kind(.event)])
            #expect(types == ["event.Counted one", "event.Counted two", "event.Other one"])
        },
        ConformanceCase("A filter by type selects no other type, not even one with the same prefix") { fixture in
            let types = try await fixture.types(passing: [.type(MessageType(kind: .event, name: "Other"))])
            #expect(types == ["event.Other one"])
            #expect(try await fixture.types(passing: [.type(MessageType(kind: .event, name: "Num"))]).isEmpty)
        },
        ConformanceCase("A filter by session selects no other session") { fixture in
            let types = try await fixture.types(passing: [.type(Counted.self, subject: "two")])
            #expect(types == ["event.Counted two"])
            let all = try await fixture.types(passing: [.subject("one")])
            #expect(all == ["command.Order one", "event.Counted one", "event.Other one"])
        },
        ConformanceCase("A message that matches two filters arrives once") { fixture in
            let types = try await fixture.types(passing: [.type(Order.self), .kind(.command), .type(Other.self)])
            #expect(types == ["command.Order one", "event.Other one"])
        },
    ]
}

extension ConformanceFixture {
    /// The messages of a fixed set that pass the filters, as `type subject`, sorted.
    fileprivate func types(passing filters: [MessageFilter]) async throws -> [String] {
        try await withBus { bus in
            try await bus.withSubscription(to: filters + [.type(Marker.self)], from: .now) { messages in
                try await bus.publish(Counted(number: 1), subject: "one")
                try await bus.publish(Counted(number: 2), subject: "two")
                try await bus.publish(Other(number: 3), subject: "one")
                try await bus.send(Order(number: 4), subject: "one")
                try await bus.publish(Marker(), subject: "one")
                return try await messages.beforeMarker().map { "\($0.type) \($0.subject)" }.sorted()
            }
        }
    }
}
