internal import EventBus
internal import Foundation
internal import Testing

extension ConformanceCase {
    static let pastAndLive = [
        ConformanceCase("between past and live nothing is missing and nothing comes twice") { fixture in
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
                                try await $0.take(500 - first)
                            }
                            #expect(try Set(received.numbers) == Set(first..<500))
                            #expect(received.offsets == Array(UInt64(first + 1)...500))
                        }
                    }
                    group.addTask {
                        let received = try await bus.withSubscription(to: [.all], from: .since(time)) {
                            try await $0.through(500)
                        }
                        // What was journalled in the same millisecond may come as well.
                        let first = try #require(received.offsets.first)
                        #expect(first <= 51)
                        #expect(received.offsets == Array(first...500))
                    }
                    group.addTask {
                        let claim = try await bus.claim(consumer: "reader")
                        let received = try await bus.withSubscription(to: [.all], under: claim) {
                            try await $0.take(500)
                        }
                        #expect(received.offsets == Array(1...500))
                    }
                    try await group.waitForAll()
                }
            }
        },
        ConformanceCase("between what is retained and what follows no change is missing, and none comes twice") {
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
    /// The messages up to an offset.
    fileprivate func through(_ offset: UInt64) async throws -> [Envelope] {
        var messages: [Envelope] = []
        for try await message in self {
            messages.append(message)
            if message.position?.offset == offset { break }
        }
        return messages
    }
}
