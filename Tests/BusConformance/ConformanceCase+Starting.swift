internal import EventBus
internal import Foundation
internal import Testing

extension ConformanceCase {
    static let starting = [
        ConformanceCase("a subscription until a position ends there, though nothing of it may match") { fixture in
            try await fixture.withBus { bus in
                try await bus.publish(0..<5)
                let end = try #require(try await bus.publish(Other(number: 1)).position)
                try await bus.publish(5..<8)
                try await bus.publish(Setting(name: "a", value: "behind"))
                for (start, filter, count) in [
                    (StartPosition.beginning, MessageFilter.type(Numbered.self), 5), (.beginning, .all, 6),
                    (.after(end), .all, 0), (.now, .all, 0), (.retained, .type(Setting.self), 0),
                ] {
                    let received = try await bus.withSubscription(to: [filter], from: start, until: end, onNotice: nil)
                    {
                        try await $0.take(.max)
                    }
                    #expect(received.count == count, "from \(start)")
                }
            }
        },
        ConformanceCase("a subscription until a position to come waits for it") { fixture in
            try await fixture.withBus { bus in
                let now = try await bus.publish(0..<2)
                let end = Position(epoch: now.epoch, offset: now.offset + 3)
                let received = try await bus.withSubscription(
                    to: [.type(Numbered.self)], from: .beginning, until: end, onNotice: nil
                ) { messages in
                    try await bus.publish(2..<4)
                    try await bus.publish(Other(number: 1))
                    try await bus.publish([4])
                    return try await messages.take(.max)
                }
                #expect(try received.numbers == [0, 1, 2, 3])
            }
        },
        ConformanceCase("a subscription until a position of another journal is refused") { fixture in
            try await fixture.withBus { bus in
                let position = try await bus.publish(0..<5)
                let foreign = Position(epoch: position.epoch ^ 1, offset: 2)
                let error = await #expect(throws: BusError.self) {
                    try await bus.withSubscription(to: [.all], from: .beginning, until: foreign, onNotice: nil) {
                        _ = try await $0.take(1)
                    }
                }
                #expect(error?.code == .epoch)
            }
        },
        ConformanceCase("a subscription from now has what is published from then on, nothing older") { fixture in
            try await fixture.withBus { bus in
                try await bus.publish(0..<5)
                let received = try await bus.withSubscription(to: [.type(Numbered.self)], from: .now) { messages in
                    try await bus.publish(5..<8)
                    return try await messages.take(3)
                }
                #expect(try received.numbers == [5, 6, 7])
            }
        },
        ConformanceCase("a subscription from the beginning has the whole journal, then what follows") { fixture in
            try await fixture.withBus { bus in
                try await bus.publish(0..<5)
                let received = try await bus.withSubscription(to: [.all], from: .beginning) { messages in
                    try await bus.publish(5..<8)
                    return try await messages.take(8)
                }
                #expect(try received.numbers == Array(0..<8))
            }
        },
        ConformanceCase("a subscription from behind a position goes on with the next message") { fixture in
            try await fixture.withBus { bus in
                let position = try await bus.publish(0..<5)
                try await bus.publish(5..<7)
                let received = try await bus.withSubscription(to: [.all], from: .after(position)) { messages in
                    try await bus.publish([7])
                    return try await messages.take(3)
                }
                #expect(try received.numbers == [5, 6, 7])
            }
        },
        ConformanceCase("a position of another journal is refused") { fixture in
            try await fixture.withBus { bus in
                let position = try await bus.publish(0..<5)
                let foreign = Position(epoch: position.epoch ^ 1, offset: 2)
                let error = await #expect(throws: BusError.self) {
                    try await bus.withSubscription(to: [.all], from: .after(foreign)) { _ = try await $0.take(1) }
                }
                #expect(error?.code == .epoch)
            }
        },
        ConformanceCase("a subscription behind a position that the journal has not reached is refused") { fixture in
            try await fixture.withBus { bus in
                let end = try await bus.publish([1])
                let behind = Position(epoch: end.epoch, offset: end.offset + 1)
                let error = await #expect(throws: BusError.self) {
                    try await bus.withSubscription(to: [.all], from: .after(behind)) { _ in }
                }
                #expect(error?.code == .epoch)
            }
        },
        ConformanceCase("a subscription since a time has what was journalled then or later, then what follows") {
            fixture in
            try await fixture.withBus { bus in
                try await bus.publish([0])
                // Times are kept in milliseconds: publish until the clock has gone on by enough of them.
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
        ConformanceCase("a subscription from what is retained has the last of each document, then all") { fixture in
            try await fixture.withBus { bus in
                try await bus.publish(Setting(name: "a", value: "1"))
                try await bus.publish([1])
                try await bus.publish(Setting(name: "b", value: "2"))
                try await bus.publish(Setting(name: "a", value: "3"))
                let received = try await bus.withSubscription(to: [.all], from: .retained) { messages in
                    try await bus.publish(Setting(name: "c", value: "4"))
                    return try await messages.take(3)
                }
                #expect(try received.map { try $0.decode(Setting.self).value } == ["2", "3", "4"])
            }
        },
    ]
}
