internal import EventBus
internal import Foundation
internal import TestSupport
internal import Testing

extension ConformanceCase {
    static let givingUp = [
        ConformanceCase(
            "A message that a consumer gives up becomes a dead letter, and the consumer continues after it",
            needs: .deadLetters
        ) { fixture in
            try await fixture.withBus { bus in
                try await bus.publish([1, 2])
                let claim = try await bus.claim(consumer: "counter")
                let message = try #require(try await bus.read(1, under: claim).first)
                try await bus.reject(
                    message, under: claim, results: [try Envelope(Other(number: 1), source: bus.source)])
                let deadLetters = try await bus.inspect.deadLetters(of: "counter")
                #expect(deadLetters.map(\.message) == [message])
                #expect(deadLetters.map(\.consumer) == ["counter"])
                #expect(deadLetters.map(\.rejection.code) == ["conformance.unusable"])
                #expect(deadLetters.map(\.rejection.reason) == ["it is of no use"])
                #expect(deadLetters.map(\.rejection.attempts) == [3])
                #expect(deadLetters.allSatisfy { abs($0.time.timeIntervalSinceNow) < 60 })
                #expect(try await bus.claim(consumer: "counter").position == message.position)
                let end = try await bus.inspect.end()
                #expect(try await bus.inspect.newest(matching: [.type(Other.self)]) == end)
                #expect(end != deadLetters.first?.message.position)
            }
        },
        ConformanceCase("Dead letters are listed from the oldest, for one consumer or for all", needs: .deadLetters) {
            fixture in
            try await fixture.withBus { bus in
                try await bus.publish(0..<3)
                try await bus.giveUp(3, as: "one")
                try await bus.giveUp(2, as: "two")
                #expect(try await bus.inspect.deadLetters(of: "one").map(\.message).numbers == [0, 1, 2])
                #expect(try await bus.inspect.deadLetters(of: "two").map(\.message).numbers == [0, 1])
                #expect(try await bus.inspect.deadLetters(of: "three").isEmpty)
                let all = try await bus.inspect.deadLetters(of: nil)
                #expect(all.map(\.consumer) == ["one", "one", "one", "two", "two"])
                #expect(Set(all.map(\.id)).count == 5)
            }
        },
        ConformanceCase("Dead letters are counted, found by their ids, and read in pages", needs: .deadLetters) {
            fixture in
            try await fixture.withBus { bus in
                try await bus.publish(0..<40)
                try await bus.giveUp(40, as: "one")
                try await bus.giveUp(2, as: "two")
                let deadLetters = try await bus.inspect.deadLetters(of: nil)
                #expect(try await bus.inspect.deadLetterCount(of: nil) == 42)
                for (consumer, count) in ["one": 40, "two": 2, "three": 0] {
                    #expect(try await bus.inspect.deadLetterCount(of: consumer) == count)
                    let ids = deadLetters.filter { $0.consumer == consumer }.map(\.id)
                    #expect(try await bus.inspect.deadLetters(of: consumer).map(\.id) == ids)
                }
                for limit in [1, 7, .max] {
                    var (after, read, listed) = (Int64(0), [DeadLetter](), [DeadLetter.Summary]())
                    while case let page = try await bus.inspect.deadLetters(of: "one", after: after, limit: limit),
                        let last = page.last
                    {
                        #expect(page.count <= limit)
                        listed += try await bus.inspect.deadLetterSummaries(of: "one", after: after, limit: page.count)
                        (read, after) = (read + page, last.id)
                    }
                    #expect(read == deadLetters.filter { $0.consumer == "one" })
                    #expect(listed == read.map(\.summary))
                    #expect(listed.allSatisfy { $0.message.data.isEmpty && $0.dataSize > 0 && !$0.isTombstone })
                }
                for deadLetter in [deadLetters[0], deadLetters[41]] {
                    #expect(try await bus.inspect.deadLetter(deadLetter.id) == deadLetter)
                    #expect(try await bus.inspect.deadLetterSummary(deadLetter.id) == deadLetter.summary)
                }
                for id in [.min, -1, 0, deadLetters[41].id + 1, .max] {
                    #expect(try await bus.inspect.deadLetter(id) == nil)
                    #expect(try await bus.inspect.deadLetterSummary(id) == nil)
                }
                for limit in [0, -1] {
                    #expect(try await bus.inspect.deadLetters(of: nil, after: 0, limit: limit).isEmpty)
                    #expect(try await bus.inspect.deadLetterSummaries(of: nil, after: 0, limit: limit).isEmpty)
                }
                var batch = Batch([])
                batch.resolvedDeadLetters = deadLetters.prefix(3).map(\.id)
                try await bus.publish(batch)
                #expect(try await bus.inspect.deadLetterCount(of: nil) == 39)
                #expect(try await bus.inspect.deadLetter(deadLetters[1].id) == nil)
                #expect(
                    try await bus.inspect.deadLetterSummaries(of: nil, after: 0, limit: 1).map(\.id) == [
                        deadLetters[3].id
                    ])
            }
        },
        ConformanceCase("A consumer with an empty name has no dead letters", needs: .deadLetters) { fixture in
            try await fixture.withBus { bus in
                try await bus.publish([1])
                try await bus.giveUp(1, as: "one")
                #expect(try await bus.inspect.deadLetters(of: "").isEmpty)
                #expect(try await bus.inspect.deadLetterCount(of: "") == 0)
                #expect(try await bus.inspect.deadLetterSummaries(of: "", after: 0, limit: .max).isEmpty)
            }
        },
        ConformanceCase("A dead letter is removed by the batch that settles it", needs: .deadLetters) { fixture in
            try await fixture.withBus { bus in
                try await bus.publish(0..<2)
                let deadLetters = try await bus.giveUp(2, as: "counter")
                var batch = Batch([try Envelope(Other(number: 1), source: bus.source)])
                batch.resolvedDeadLetters = [deadLetters[0].id]
                let position = try await bus.publish(batch)
                #expect(try await bus.inspect.newest(matching: [.type(Other.self)]) == position)
                #expect(try await bus.inspect.deadLetters(of: "counter") == [deadLetters[1]])
            }
        },
        ConformanceCase(
            "A batch that settles an unknown dead letter is refused whole", needs: .deadLetters
        ) { fixture in
            try await fixture.withBus { bus in
                let position = try await bus.publish(0..<2)
                let deadLetters = try await bus.giveUp(2, as: "counter")
                let end = try await bus.inspect.end()
                let claim = try await bus.claim(consumer: "another")
                let error = await #expect(throws: BusError.self) {
                    let result = try Envelope(Other(number: 1), source: bus.source)
                    var batch = Batch([result], checkpoint: Checkpoint(claim: claim, upTo: position))
                    batch.resolvedDeadLetters = [deadLetters[0].id, deadLetters[1].id + 1000]
                    try await bus.publish(batch)
                }
                #expect(error?.code == .deadLetter)
                #expect(try await bus.inspect.end() == end)
                #expect(try await bus.inspect.deadLetters(of: nil) == deadLetters)
                #expect(try await bus.claim(consumer: "another").position.offset == 0)
            }
        },
        ConformanceCase("A member that has lost its claim cannot make a message a dead letter", needs: .deadLetters) {
            fixture in
            try await fixture.withBus { bus in
                try await bus.publish([1])
                let claim = try await bus.claim(consumer: "counter")
                let message = try #require(try await bus.read(1, under: claim).first)
                _ = try await bus.claim(consumer: "counter")
                let error = await #expect(throws: BusError.self) { try await bus.reject(message, under: claim) }
                #expect(error?.code == .fenced)
                #expect(try await bus.inspect.deadLetters(of: nil).isEmpty)
            }
        },
        ConformanceCase(
            "A message that is sent again is handled only by the consumer that gave it up", needs: .deadLetters
        ) { fixture in
            try await fixture.withBuses { first, second in
                let workers: [@Sendable () async throws -> Void] = [
                    { try await first.work(as: "one", mode: .exclusive) },
                    { try await second.work(as: "two", mode: .exclusive) },
                ]
                let handled = try await withBackground(workers) {
                    try await fixture.withBus("conformance/operator") { bus in
                        try await bus.withSubscription(to: [.type(Handled.self)], from: .now) { messages in
                            var again = try Envelope(Counted(number: 1), source: bus.source)
                            again.attributes.recipient = "two"
                            try await bus.publish(Batch([again]))
                            try await bus.publish([2])
                            return try await messages.receive(3).map { try $0.decode(Handled.self) }
                        }
                    }
                }
                let byWorker = Dictionary(grouping: handled, by: \.worker).mapValues { $0.map(\.number) }
                #expect(byWorker == [first.source: [2], second.source: [1, 2]])
            }
        },
    ]
}
