internal import EventBus
internal import TestSupport
internal import Testing

extension ConformanceCase {
    static let consuming = [
        ConformanceCase("A new durable consumer starts at the beginning of the journal") { fixture in
            try await fixture.withBus { bus in
                try await bus.publish(0..<3)
                let claim = try await bus.claim(consumer: "counter")
                #expect(claim.position.offset == 0)
                #expect(claim.ownerGeneration > 0)
            }
        },
        ConformanceCase("A later claim fences the earlier one, whose batches are refused whole") { fixture in
            try await fixture.withBus("conformance/old") { old in
                try await fixture.withBus("conformance/new") { new in
                    let position = try await old.publish([1])
                    let first = try await old.claim(consumer: "counter")
                    let second = try await new.claim(consumer: "counter")
                    #expect(second.ownerGeneration > first.ownerGeneration)
                    let error = await #expect(throws: BusError.self) {
                        let result = try Envelope(Other(number: 1), source: old.source)
                        try await old.publish(Batch([result], checkpoint: Checkpoint(claim: first, upTo: position)))
                    }
                    #expect(error?.code == .fenced)
                    #expect(try await new.inspect.end() == position)
                    try await new.publish(Batch([], checkpoint: Checkpoint(claim: second, upTo: position)))
                    #expect(try await new.claim(consumer: "counter").position == position)
                }
            }
        },
        ConformanceCase(
            "An exclusive consumer belongs to the member whose first claim came last"
        ) { fixture in
            try await fixture.withBus("conformance/older") { older in
                let position = try await older.publish([1])
                try await fixture.withBus("conformance/newer") { newer in
                    let (late, early) = (ConsumerMember.exclusive, ConsumerMember.exclusive)
                    let first = try await newer.claim(consumer: "counter", as: early)
                    let second = try await older.claim(consumer: "counter", as: late)
                    #expect(second.ownerGeneration > first.ownerGeneration)
                    let error = await #expect(throws: BusError.self) {
                        try await newer.publish(Batch([], checkpoint: Checkpoint(claim: first, upTo: position)))
                    }
                    #expect(error?.code == .fenced)
                    let repeated = await #expect(throws: BusError.self) {
                        try await newer.claim(consumer: "counter", as: early)
                    }
                    #expect(repeated?.code == .fenced)
                    try await older.publish(Batch([], checkpoint: Checkpoint(claim: second, upTo: position)))
                }
            }
        },
        ConformanceCase("Consumers with different names do not fence each other") { fixture in
            try await fixture.withBus { bus in
                let position = try await bus.publish([1])
                let claim = try await bus.claim(consumer: "one")
                _ = try await bus.claim(consumer: "two")
                try await bus.publish(Batch([], checkpoint: Checkpoint(claim: claim, upTo: position)))
                #expect(try await bus.claim(consumer: "one").position == position)
                #expect(try await bus.claim(consumer: "two").position.offset == 0)
            }
        },
        ConformanceCase("A durable consumer continues after a crash, and each of its results is recorded once") {
            fixture in
            struct Crash: Error {}
            try await fixture.withBus("conformance/publisher") { publisher in
                let end = try await publisher.publish(0..<5)
                await #expect(throws: Crash.self) {
                    try await fixture.withBus("conformance/first") { bus in
                        try await bus.consumeNumbers { if $0 == 2 { throw Crash() } }
                    }
                }
                let results = try await fixture.withBus("conformance/second") { bus in
                    try await withThrowingTaskGroup { group in
                        group.addTask { try await bus.consumeNumbers { #expect($0 >= 2) } }
                        let results = try await publisher.withSubscription(to: [.type(Other.self)], from: .beginning) {
                            try await $0.receive(5)
                        }
                        group.cancelAll()
                        return results
                    }
                }
                #expect(try results.map { try $0.decode(Other.self).number } == [0, 1, 2, 3, 4])
                #expect(try await publisher.claim(consumer: "conformance").position == end)
            }
        },
        ConformanceCase("A durable consumer stops when another process takes over") { fixture in
            try await fixture.withBus("conformance/old") { old in
                try await fixture.withBus("conformance/new") { new in
                    let error = await #expect(throws: BusError.self) {
                        try await new.publish([1])
                        try await old.consumeNumbers { _ in _ = try await new.claim(consumer: "conformance") }
                    }
                    #expect(error?.code == .fenced)
                }
            }
        },
    ]
}

extension EventBus {
    /// Consumes numbered events with a durable consumer, and publishes an ``Other`` of the same number for each.
    fileprivate func consumeNumbers(_ handle: @escaping @Sendable (Int) async throws -> Void) async throws {
        let source = source
        try await consume(as: "conformance", [.type(Counted.self)]) { message in
            let number = try message.decode(Counted.self).number
            try await handle(number)
            return [try Envelope(Other(number: number), source: source, causedBy: message)]
        }
    }
}

extension ConformanceCase {
    static let sharing = [
        ConformanceCase(
            "Members that share a consumer handle every message once, and those of a session in order",
            needs: .sharedConsumers
        ) { fixture in
            try await fixture.withBuses { first, second in
                let handled = try await withBackground([{ try await first.work() }, { try await second.work() }]) {
                    try await fixture.handledByTwo()
                }
                let bySubject = try Dictionary(grouping: handled, by: \.subject)
                    .mapValues { try $0.map { try $0.decode(Handled.self).number } }
                for (subject, numbers) in bySubject {
                    #expect(numbers == Array(0..<numbers.count), "of \(subject)")
                }
            }
        },
        ConformanceCase("A member that joins gets half of the partitions", needs: .sharedConsumers) { fixture in
            try await fixture.withBuses { first, second in
                let member = ConsumerMember.shared
                let all = try await first.claim(consumer: "workers", as: member)
                #expect(all.offsets.count == Partition.count)
                let half = try await second.claim(consumer: "workers", as: .shared)
                #expect(half.offsets.count == Partition.count / 2)
                // The subscription under the previous claim ends; its reader claims again.
                #expect(try await first.read(1, under: all).isEmpty)
                let rest = try await first.claim(consumer: "workers", as: member)
                #expect(Set(rest.offsets.keys) == Set(Partition.all).subtracting(half.offsets.keys))
            }
        },
        ConformanceCase(
            "A member that closes hands over the messages that it has not handled", needs: .sharedConsumers
        ) { fixture in
            try await fixture.withBus("conformance/stayer") { stayer in
                let member = ConsumerMember.shared
                let before = try await stayer.claim(consumer: "workers", as: member)
                try await stayer.withSubscription(to: [.type(Counted.self)], under: before) { messages in
                    try await fixture.withBus("conformance/leaver") { leaver in
                        let claim = try await leaver.claim(consumer: "workers", as: .shared)
                        try await leaver.publish(0..<6, subject: claim.subject())
                        let read = try await leaver.read(5, under: claim)
                        #expect(try read.numbers == Array(0..<5))
                        for message in read.prefix(4) {
                            try await leaver.publish(
                                Batch([], checkpoint: Checkpoint(claim: claim, handled: Delivery(message))))
                        }
                    }
                    // The messages end. A message that the member read before it learned of the change is no longer its
                    // own.
                    for try await _ in messages {}
                }
                let after = try await stayer.claim(consumer: "workers", as: member)
                #expect(after.offsets.count == Partition.count)
                #expect(after.ownerGeneration > before.ownerGeneration)
                #expect(try await stayer.read(2, under: after).numbers == [4, 5])
            }
        },
        ConformanceCase(
            "Two members of one process share the work; when one ends, the other handles all messages",
            needs: .sharedConsumers
        ) { fixture in
            try await fixture.withBus { bus in
                try await withBackground([{ try await bus.work(name: "stayer") }]) {
                    try await withBackground([{ try await bus.work(name: "leaver") }]) {
                        _ = try await fixture.handledByTwo()
                    }
                    let workers = try await bus.withSubscription(to: [.type(Handled.self)], from: .now) { messages in
                        for number in 0..<64 { try await bus.publish([number], subject: "session-\(number)") }
                        return try await messages.receive(64).map { try $0.decode(Handled.self).worker }
                    }
                    #expect(Set(workers) == ["stayer"])
                }
            }
        },
        ConformanceCase(
            "A member that ends with an error hands over at once, though its process continues", needs: .sharedConsumers
        ) { fixture in
            struct Failure: Error {}
            try await fixture.withBus { bus in
                try await bus.publish([1])
                await #expect(throws: Failure.self) {
                    try await bus.consume(as: "workers", [.type(Counted.self)], mode: .shared) { _ in throw Failure() }
                }
                let claim = try await bus.claim(consumer: "workers", as: .shared)
                #expect(claim.offsets.count == Partition.count)
                #expect(claim.position.offset == 0)
            }
        },
        ConformanceCase(
            "A result of a member that has lost the message's partition is not recorded", needs: .sharedConsumers
        ) { fixture in
            try await fixture.withBuses { first, second in
                let all = try await first.claim(consumer: "workers", as: .shared)
                for number in 0..<64 { try await first.publish([number], subject: "session-\(number)") }
                let read = try await first.read(64, under: all)
                let half = try await second.claim(consumer: "workers", as: .shared)
                let lost = try #require(read.first { half.covers($0) })
                let kept = try #require(read.first { !half.covers($0) })
                let error = await #expect(throws: BusError.self) {
                    let result = try Envelope(Other(number: 1), source: first.source)
                    try await first.publish(
                        Batch([result], checkpoint: Checkpoint(claim: all, handled: Delivery(lost))))
                }
                #expect(error?.code == .fenced)
                #expect(try await first.inspect.newest(matching: [.type(Other.self)]).offset == 0)
                try await first.publish(Batch([], checkpoint: Checkpoint(claim: all, handled: Delivery(kept))))
                #expect(try await second.read(1, under: half) == [lost])
            }
        },
        ConformanceCase(
            "An exclusive member takes over from shared members, and a shared member from an exclusive one",
            needs: .sharedConsumers
        ) { fixture in
            try await fixture.withBuses { first, second in
                try await first.publish([1])
                let shared = try await first.claim(consumer: "workers", as: .shared)
                let message = try #require(try await first.read(1, under: shared).first)
                let exclusive = try await second.claim(consumer: "workers", as: .exclusive)
                #expect(exclusive.offsets.count == Partition.count)
                await fixture.expectFenced(first, shared, message)
                let successor = try await first.claim(consumer: "workers", as: .shared)
                #expect(successor.offsets.count == Partition.count)
                await fixture.expectFenced(second, exclusive, message)
                try await first.publish(Batch([], checkpoint: Checkpoint(claim: successor, handled: Delivery(message))))
            }
        },
    ]
}

extension ConformanceFixture {
    /// Publishes numbers to many subjects until each of two workers has handled some.
    /// - Returns: The results of the workers, in the order of the journal.
    func handledByTwo() async throws -> [Envelope] {
        try await withBus("conformance/watcher") { bus in
            try await bus.withSubscription(to: [.type(Handled.self)], from: .now) { messages in
                var handled: [Envelope] = []
                for number in 0... {
                    let source = bus.source
                    let round = try (0..<192).map {
                        try Envelope(
                            Counted(number: number * 3 + $0 / 64), source: source, subject: "session-\($0 % 64)")
                    }
                    try await bus.publish(Batch(round))
                    handled += try await messages.receive(round.count)
                    if Set(try handled.map { try $0.decode(Handled.self).worker }).count == 2 { break }
                }
                // If a message was handled twice, its second result would arrive now.
                try await bus.publish(Batch([try Envelope(Handled(number: -1, worker: ""), source: bus.source)]))
                let last = try #require(try await messages.receive(1).first)
                #expect(try last.decode(Handled.self).number == -1)
                return handled
            }
        }
    }

    fileprivate func expectFenced(_ bus: EventBus, _ claim: ConsumerClaim, _ message: Envelope) async {
        let error = await #expect(throws: BusError.self) {
            try await bus.publish(Batch([], checkpoint: Checkpoint(claim: claim, handled: Delivery(message))))
        }
        #expect(error?.code == .fenced)
    }
}
