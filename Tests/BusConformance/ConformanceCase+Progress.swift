internal import EventBus
internal import TestSupport
internal import Testing

extension ConformanceCase {
    static let progress = [
        ConformanceCase(
            "A checkpoint is refused unless the previous one of its partition is recorded", needs: .deadLetters
        ) { fixture in
            try await fixture.withBus { bus in
                try await bus.publish(0..<3)
                let claim = try await bus.claim(consumer: "worker")
                let messages = try await bus.read(3, under: claim)
                let handled = try await messages.asyncMap { message in
                    try await bus.code(of: bus.handled(message, under: claim, of: messages))
                }
                #expect(handled == [nil, nil, nil])
            }
            try await fixture.withBus { bus in
                let claim = try await bus.claim(consumer: "loser")
                let messages = try await bus.read(3, under: claim)
                // The batch of the first message is refused because it settles a dead letter that does not exist.
                let refused = bus.handled(messages[0], under: claim, of: messages, settling: [99])
                #expect(try await bus.code(of: refused) == .deadLetter)
                for message in messages.dropFirst() {
                    let next = bus.handled(message, under: claim, of: messages)
                    #expect(try await bus.code(of: next) == .unrecorded)
                }
                let beginning = Position(epoch: claim.epoch, offset: 0)
                #expect(
                    try await bus.inspect.lag(after: beginning, matching: [.type(Other.self)]) == 3, "of the worker")
                let again = try await bus.claim(consumer: "loser", as: claim.member)
                #expect(try await bus.read(3, under: again) == messages, "nothing counts as handled")
                for message in messages {
                    #expect(try await bus.code(of: bus.handled(message, under: claim, of: messages)) == nil)
                }
                #expect(try await bus.inspect.lag(after: beginning, matching: [.type(Other.self)]) == 6)
            }
        },
        ConformanceCase("A batch of a message that is already handled is a repeat, whatever predecessor it names") {
            fixture in
            try await fixture.withBus { bus in
                try await bus.publish(0..<2)
                let claim = try await bus.claim(consumer: "worker")
                let messages = try await bus.read(2, under: claim)
                try await bus.publish(Batch([], checkpoint: Checkpoint(claim: claim, handled: Delivery(messages[1]))))
                let batch = bus.handled(messages[0], under: claim, previous: 7, settling: [99])
                #expect(try await bus.code(of: batch) == nil)
                #expect(try await bus.inspect.newest(matching: [.type(Other.self)]).offset == 0)
            }
        },
        ConformanceCase("Progress beyond the journal's end is refused, so later messages are still handled") {
            fixture in
            try await fixture.withBus { bus in
                let end = try await bus.publish([0]).offset
                let claim = try await bus.claim(consumer: "worker")
                let partition = Partition(subject: Session.default)
                for (offset, settled) in [(end + 1, end), (end, end + 1), (end + 1, end + 1)] {
                    for partition in [nil, partition] {
                        let position = Position(epoch: claim.epoch, offset: offset)
                        let checkpoint = Checkpoint(
                            claim: claim, position: position, partition: partition, previous: nil, settled: settled)
                        #expect(try await bus.code(of: Batch([], checkpoint: checkpoint)) == .epoch)
                    }
                }
                try await bus.publish([1])
                #expect(try await bus.read(2, under: claim).numbers == [0, 1])
                #expect(try await bus.inspect.consumers().map(\.position.offset) == [0])
            }
        },
        ConformanceCase("Progress beyond the journal's end is refused, even with a message that is already handled") {
            fixture in
            try await fixture.withBus { bus in
                let end = try await bus.publish(0..<2)
                let claim = try await bus.claim(consumer: "worker")
                let messages = try await bus.read(2, under: claim)
                try await bus.publish(Batch([], checkpoint: Checkpoint(claim: claim, handled: Delivery(messages[1]))))
                let repeated = Checkpoint(
                    claim: claim, position: try #require(messages[0].position), partition: messages[0].partition,
                    previous: nil, settled: end.offset + 1)
                #expect(try await bus.code(of: Batch([], checkpoint: repeated)) == .epoch)
                let guarding = Checkpoint(
                    claim: claim, position: end, partition: messages[1].partition, previous: end.offset,
                    settled: end.offset + 1)
                #expect(try await bus.code(of: Batch([], checkpoint: guarding)) == .epoch)
            }
        },
        ConformanceCase(
            "A checkpoint that records no progress does not move the position, whatever low watermark it has"
        ) {
            fixture in
            try await fixture.withBus { bus in
                let end = try await bus.publish(0..<2)
                let claim = try await bus.claim(consumer: "worker")
                let partition = Partition(subject: Session.default)
                let handled = try #require(claim.offsets[partition])
                let guarding = Checkpoint(
                    claim: claim, position: Position(epoch: claim.epoch, offset: handled), partition: partition,
                    previous: handled, settled: end.offset)
                try await bus.publish(Batch([], checkpoint: guarding))
                #expect(try await bus.inspect.consumers().map(\.position.offset) == [handled])
                #expect(try await bus.read(2, under: try await bus.claim(consumer: "worker")).numbers == [0, 1])
            }
        },
        ConformanceCase("A checkpoint is refused for its journal first, then for its claim, then for its predecessor") {
            fixture in
            try await fixture.withBuses { first, second in
                let end = try await first.publish(0..<2)
                let old = try await first.claim(consumer: "worker")
                let claim = try await second.claim(consumer: "worker")
                let beyond = end.offset + 1
                let elsewhere = Position(epoch: claim.epoch &+ 1, offset: 1)
                func code(
                    _ claim: ConsumerClaim, _ position: Position, settled: UInt64 = 0, previous: UInt64? = nil,
                    _ messages: [Envelope] = []
                ) async throws -> BusError.Code? {
                    let bus = claim == old ? first : second
                    let checkpoint = Checkpoint(
                        claim: claim, position: position, partition: Partition(subject: Session.default),
                        previous: previous, settled: settled)
                    return try await bus.code(of: Batch(messages, checkpoint: checkpoint))
                }
                #expect(try await code(old, elsewhere) == .epoch)
                #expect(try await code(old, end, settled: beyond) == .epoch)
                #expect(try await code(old, Position(epoch: claim.epoch, offset: beyond)) == .epoch)
                #expect(try await code(old, end, previous: end.offset - 1) == .fenced)
                #expect(try await code(old, end) == .fenced)
                // Also a client that knows that its claim is over.
                #expect(try await code(old, elsewhere) == .epoch)
                #expect(try await code(old, end, settled: beyond) == .epoch)
                #expect(try await code(claim, end, settled: beyond, previous: end.offset - 1) == .epoch)
                #expect(try await code(claim, end, previous: end.offset - 1) == .unrecorded)
                #expect(try await code(claim, end) == nil)
                let earlier = ConsumerClaim(
                    consumer: claim.consumer, member: claim.member, ownerGeneration: claim.ownerGeneration,
                    epoch: claim.epoch &+ 1, offsets: claim.offsets)
                #expect(try await code(earlier, end) == .epoch, "a claim of another epoch")

                var invalid = try Envelope(Other(number: 1), source: second.source)
                invalid.attributes.key = "e\u{301}"
                #expect(try await code(claim, end, [invalid]) == .refused, "although the message is handled already")
                #expect(try await code(old, elsewhere, [invalid]) == .refused)
            }
        },
        ConformanceCase(
            "Progress beyond the journal's end is also refused from a member without partitions",
            needs: .sharedConsumers
        ) { fixture in
            try await fixture.withBus { bus in
                let end = try await bus.publish([0])
                let claim = try await bus.claim(consumer: "worker")
                let none = ConsumerClaim(
                    consumer: "worker", member: .shared, ownerGeneration: claim.ownerGeneration, epoch: claim.epoch,
                    offsets: [:])
                let beyond = Position(epoch: claim.epoch, offset: end.offset + 1)
                #expect(
                    try await bus.code(of: Batch([], checkpoint: Checkpoint(claim: none, upTo: beyond))) == .epoch)
            }
        },
        ConformanceCase("A batch under a lost claim is refused as fenced, whatever predecessor it names") { fixture in
            try await fixture.withBuses { first, second in
                try await first.publish(0..<2)
                let old = try await first.claim(consumer: "worker")
                let messages = try await first.read(2, under: old)
                _ = try await second.claim(consumer: "worker")
                let batch = first.handled(messages[1], under: old, of: messages)
                #expect(try await first.code(of: batch) == .fenced)
            }
        },
        ConformanceCase("The result of a slow partition is recorded, however far other partitions are ahead") {
            fixture in
            try await fixture.withBus { bus in
                let claim = try await bus.claim(consumer: "worker")
                let (slow, fast) = try bus.twoSubjects()
                try await bus.publish([0], subject: slow)
                try await bus.publish(1..<10, subject: fast)
                let messages = try await bus.read(10, under: claim)
                let progress = ConsumerProgress()
                progress.oldestUnfinished = messages[0].position?.offset
                for message in messages.dropFirst() {
                    let batch = bus.handled(message, under: claim, of: messages, progress: progress)
                    #expect(try await bus.code(of: batch) == nil)
                }
                let before = try await bus.inspect.consumers()
                let slowOffset = try #require(messages[0].position).offset
                #expect(before.count == 1 && before.allSatisfy { $0.position.offset < slowOffset })
                let late = bus.handled(messages[0], under: claim, of: messages, progress: progress)
                #expect(try await bus.code(of: late) == nil)
                let results = try await bus.withSubscription(to: [.type(Other.self)], from: .beginning) {
                    try await $0.receive(10).map { try $0.decode(Other.self).number }
                }
                #expect(results == Array(1..<10) + [0], "the last one was not a repetition")
            }
        },
    ]
}

extension EventBus {
    /// The batch of a handled message: its result, and its checkpoint, which names the previous message of the
    /// partition.
    fileprivate func handled(
        _ message: Envelope, under claim: ConsumerClaim, of messages: [Envelope] = [], previous: UInt64? = nil,
        progress: ConsumerProgress? = nil, settling deadLetters: [DeadLetter.ID] = []
    ) -> Batch {
        let position = message.position ?? claim.position
        let before = messages.prefix { $0 != message }.last { $0.partition == message.partition }
        let checkpoint = Checkpoint(
            claim: claim, position: position, partition: message.partition,
            previous: previous ?? before?.position?.offset ?? claim.offsets[message.partition],
            settled: progress?.settled(delivered: messages.last?.position?.offset ?? 0) ?? position.offset)
        let number = (try? message.decode(Counted.self).number) ?? 0
        let results = [try? Envelope(Other(number: number), source: source)].compactMap(\.self)
        var batch = Batch(results, checkpoint: checkpoint)
        batch.resolvedDeadLetters = deadLetters
        return batch
    }

    /// The code with which the bus refuses a batch; nil if it is published.
    fileprivate func code(of batch: Batch) async throws -> BusError.Code? {
        do {
            try await publish(batch)
            return nil
        } catch let error as BusError {
            return error.code
        }
    }

    /// Two subjects in different partitions.
    fileprivate func twoSubjects() throws -> (String, String) {
        let slow = Partition(subject: "slow")
        let other = (0..<10_000).lazy.map { "session-\($0)" }.first { Partition(subject: $0) != slow }
        return ("slow", try #require(other))
    }
}

extension Sequence {
    fileprivate func asyncMap<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}

extension ConformanceCase {
    static let forgetting = [
        ConformanceCase("The durable consumers are listed by name, each with its position and its lag") { fixture in
            try await fixture.withBus { bus in
                #expect(try await bus.inspect.consumers().isEmpty)
                try await bus.publish(0..<4)
                _ = try await bus.claim(consumer: "behind")
                let claim = try await bus.claim(consumer: "ahead")
                let handled = try await bus.read(3, under: claim)
                for message in handled {
                    try await bus.publish(Batch([], checkpoint: Checkpoint(claim: claim, handled: Delivery(message))))
                }
                let consumers = try await bus.inspect.consumers()
                #expect(consumers.map(\.name) == ["ahead", "behind"])
                #expect(consumers.map(\.position.offset) == [handled.last?.position?.offset, 0])
                for (consumer, lag) in zip(consumers, [1, 4] as [UInt64]) {
                    #expect(try await bus.inspect.lag(after: consumer.position, matching: [.all]) == lag)
                }
                #expect(consumers.map(\.memberCount) == [0, 0])
                #expect(Set(consumers.map(\.position.epoch)) == [claim.epoch])
            }
        },
        ConformanceCase(
            "A removed consumer starts again at the beginning, and its dead letters stay", needs: .deadLetters
        ) {
            fixture in
            try await fixture.withBus { bus in
                try await bus.publish(0..<3)
                let deadLetters = try await bus.giveUp(2, as: "finished")
                try await bus.inspect.forget(consumer: "finished")
                #expect(try await bus.inspect.consumers().isEmpty)
                #expect(try await bus.inspect.deadLetters(of: "finished") == deadLetters)
                let claim = try await bus.claim(consumer: "finished")
                #expect(Set(claim.offsets.values) == [0])
                #expect(try await bus.read(3, under: claim).numbers == [0, 1, 2])
            }
        },
        ConformanceCase("The removal of an unknown consumer succeeds, and that of an empty name is refused") {
            fixture in
            try await fixture.withBus { bus in
                try await bus.inspect.forget(consumer: "nobody")
                let error = await #expect(throws: BusError.self) { try await bus.inspect.forget(consumer: "") }
                #expect(error?.code == .refused)
            }
        },
        ConformanceCase("Late progress of the owner of a removed consumer does not count for its successor") {
            fixture in
            try await fixture.withBuses { first, second in
                try await first.publish(0..<3)
                let old = try await first.claim(consumer: "renewed")
                let messages = try await first.read(3, under: old)
                try await first.leave(old)
                try await second.inspect.forget(consumer: "renewed")
                let new = try await second.claim(consumer: "renewed")
                #expect(new.ownerGeneration > old.ownerGeneration)
                let error = await #expect(throws: BusError.self) {
                    let checkpoint = messages.last.flatMap { Checkpoint(claim: old, handled: Delivery($0)) }
                    try await first.publish(Batch([], checkpoint: checkpoint))
                }
                #expect(error?.code == .fenced)
                #expect(try await second.inspect.consumers().map(\.position.offset) == [0])
            }
        },
        ConformanceCase("A reader under a claim ends when its consumer is removed") { fixture in
            try await fixture.withBuses { first, second in
                let claim = try await first.claim(consumer: "stopped")
                try await first.withSubscription(to: [.type(Counted.self)], under: claim) { messages in
                    try await first.leave(claim)
                    try await second.inspect.forget(consumer: "stopped")
                    for try await _ in messages {}
                }
            }
        },
        ConformanceCase("A consumer cannot be removed while members share it", needs: .sharedConsumers) { fixture in
            try await fixture.withBus { bus in
                let member = ConsumerMember.shared
                _ = try await bus.claim(consumer: "workers", as: member)
                #expect(try await bus.inspect.consumers().map(\.memberCount) == [1])
                let error = await #expect(throws: BusError.self) { try await bus.inspect.forget(consumer: "workers") }
                #expect(error?.code == .refused)
                #expect(error?.message.contains("'workers'") == true)
                await bus.leave(consumer: "workers", as: member)
                try await bus.inspect.forget(consumer: "workers")
                #expect(try await bus.inspect.consumers().isEmpty)
            }
        },
        ConformanceCase("An exclusive consumer cannot be removed while its owner's process is alive") { fixture in
            try await fixture.withBus("conformance/2") { other in
                try await fixture.withBus { owner in
                    try await owner.publish(0..<1)
                    let claim = try await owner.claim(consumer: "sole")
                    let error = await #expect(throws: BusError.self) {
                        try await other.inspect.forget(consumer: "sole")
                    }
                    #expect(error?.code == .refused)
                    #expect(error?.message.contains("'sole'") == true)
                    for message in try await owner.read(1, under: claim) {
                        try await owner.publish(
                            Batch([], checkpoint: Checkpoint(claim: claim, handled: Delivery(message))))
                    }
                }
                try await other.inspect.forget(consumer: "sole")
                #expect(try await other.inspect.consumers().isEmpty)
            }
        },
        ConformanceCase("An exclusive consumer can be removed when its owner has left") { fixture in
            try await fixture.withBuses { first, second in
                try await first.leave(try await first.claim(consumer: "left"))
                try await second.inspect.forget(consumer: "left")
                #expect(try await second.inspect.consumers().isEmpty)
            }
        },
    ]
}

extension EventBus {
    /// Leaves, and returns when the bus knows of it.
    fileprivate func leave(_ claim: ConsumerClaim) async throws {
        await leave(consumer: claim.consumer, as: claim.member)
        _ = try await inspect.consumers()
    }
}
