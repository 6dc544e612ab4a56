internal import EventBus
internal import TestSupport
internal import Testing

/// The promises after the journal has lost its last messages, because it was replaced by an older copy.
extension ConformanceCase {
    static let losingEnd = [
        ConformanceCase(
            "In a new epoch, a subscription from now receives what follows, and no message a second time",
            needs: .survivesRestart
        ) { try await $0.newEpoch(from: .now, has: Array(10..<20)) },
        ConformanceCase(
            "In a new epoch, a subscription from the beginning receives all messages again", needs: .survivesRestart
        ) { try await $0.newEpoch(from: .beginning, has: Array(0..<20)) },
        ConformanceCase(
            "In a new epoch, a subscription from retained receives the documents again, then what follows",
            needs: .survivesRestart
        ) { fixture in
            try await fixture.withBus { bus in
                for value in ["1", "2"] { try await bus.publish(Setting(name: "a", value: value)) }
                let filters = [MessageFilter.type(Setting.self), .type(Counted.self)]
                try await bus.withSubscription(to: filters, from: .retained) { messages in
                    #expect(try await messages.receive(1).map { try $0.decode(Setting.self).value } == ["2"])
                    try await fixture.losingEnd(bus) {
                        try await bus.publish(100..<110)
                        #expect(try await messages.receive(10).numbers == Array(100..<110))
                    }
                    try await bus.publish(0..<10)
                    #expect(try await messages.receive(1).map { try $0.decode(Setting.self).value } == ["2"])
                    #expect(try await messages.receive(10).numbers == Array(0..<10))
                }
            }
        },
        ConformanceCase(
            "In a new epoch, a durable consumer handles each unhandled message once, and its lag is correct",
            needs: [.survivesRestart, .sharedConsumers]
        ) { fixture in
            try await fixture.withBuses { bus, worker in
                try await withBackground([{ try await worker.work() }]) {
                    try await bus.publish(0..<10)
                    _ = try await bus.handled(10)
                    try await fixture.losingEnd(bus) {
                        try await bus.publish(100..<110)
                        _ = try await bus.handled(20)
                    }
                    try await bus.publish(10..<20)
                    #expect(try await bus.handled(20) == Array(0..<20))
                    while true {
                        let consumer = try await bus.inspect.consumers().first { $0.name == "workers" }
                        let position = try #require(consumer).position
                        if try await bus.inspect.lag(after: position, matching: [.type(Counted.self)]) == 0 { break }
                        try await Task.sleep(for: .milliseconds(50))
                    }
                }
            }
        },
        ConformanceCase(
            "In a new epoch, lost leased documents are published again", needs: [.survivesRestart, .leases]
        ) { fixture in
            try await fixture.withBuses { bus, holder in
                let held: @Sendable (String) async throws -> Void = { value in
                    let document = try Envelope(Setting(name: "a", value: value), source: holder.source)
                    try await holder.publish(Batch([document], isLeased: true))
                }
                try await held("1")
                try await fixture.losingEnd(bus) { try await held("2") }
                try await bus.withSubscription(to: [.type(Setting.self)], from: .retained) { messages in
                    for try await message in messages where try message.decode(Setting.self).value == "2" { return }
                }
            }
        },
    ]
}

extension ConformanceFixture {
    /// A subscription receives ten numbers, and then ten others that are lost.
    /// - Parameter numbers: What it must receive in the new epoch, after ten more were published.
    fileprivate func newEpoch(from start: StartPosition, has numbers: [Int]) async throws {
        try await withBus { bus in
            try await bus.withSubscription(to: [.type(Counted.self)], from: start) { messages in
                try await bus.publish(0..<10)
                #expect(try await messages.receive(10).numbers == Array(0..<10))
                try await losingEnd(bus) {
                    try await bus.publish(100..<110)
                    #expect(try await messages.receive(10).numbers == Array(100..<110))
                }
                try await bus.publish(10..<20)
                #expect(try await messages.receive(numbers.count).numbers == numbers)
            }
        }
    }
}

extension EventBus {
    /// The numbers of the first `count` results in the journal, in order.
    fileprivate func handled(_ count: Int) async throws -> [Int] {
        try await withSubscription(to: [.type(Handled.self)], from: .beginning) {
            try await $0.receive(count).map { try $0.decode(Handled.self).number }.sorted()
        }
    }
}
