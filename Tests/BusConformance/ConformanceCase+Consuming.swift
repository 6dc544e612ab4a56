internal import Consuming
internal import EventBus
internal import Testing

extension ConformanceCase {
    static let consuming = [
        ConformanceCase("a new durable consumer begins at the beginning") { fixture in
            try await fixture.withBus { bus in
                try await bus.publish(0..<3)
                let claim = try await bus.claim(consumer: "counter")
                #expect(claim.position.offset == 0)
                #expect(claim.ownerEpoch > 0)
            }
        },
        ConformanceCase("a later claim fences the earlier one: nothing of its batches is taken") { fixture in
            try await fixture.withBus("conformance/old") { old in
                try await fixture.withBus("conformance/new") { new in
                    let position = try await old.publish([1])
                    let first = try await old.claim(consumer: "counter")
                    let second = try await new.claim(consumer: "counter")
                    #expect(second.ownerEpoch > first.ownerEpoch)
                    let error = await #expect(throws: BusError.self) {
                        let result = try Envelope(Other(number: 1), source: old.source)
                        try await old.publish(Batch([result], checkpoint: Checkpoint(claim: first, position: position)))
                    }
                    #expect(error?.code == .fenced)
                    #expect(try await new.publish(Batch([])) == position)
                    try await new.publish(Batch([], checkpoint: Checkpoint(claim: second, position: position)))
                    #expect(try await new.claim(consumer: "counter").position == position)
                }
            }
        },
        ConformanceCase(
            "an exclusive consumer belongs to the member whose first claim came last, however old its process is"
        ) { fixture in
            try await fixture.withBus("conformance/older") { older in
                let position = try await older.publish([1])
                try await fixture.withBus("conformance/newer") { newer in
                    let (late, early) = (ConsumerMember.exclusive, ConsumerMember.exclusive)
                    let first = try await newer.claim(consumer: "counter", as: early)
                    let second = try await older.claim(consumer: "counter", as: late)
                    #expect(second.ownerEpoch > first.ownerEpoch)
                    let error = await #expect(throws: BusError.self) {
                        try await newer.publish(Batch([], checkpoint: Checkpoint(claim: first, position: position)))
                    }
                    #expect(error?.code == .fenced)
                    let repeated = await #expect(throws: BusError.self) {
                        try await newer.claim(consumer: "counter", as: early)
                    }
                    #expect(repeated?.code == .fenced)
                    try await older.publish(Batch([], checkpoint: Checkpoint(claim: second, position: position)))
                }
            }
        },
        ConformanceCase("consumers of different names do not fence one another") { fixture in
            try await fixture.withBus { bus in
                let position = try await bus.publish([1])
                let claim = try await bus.claim(consumer: "one")
                _ = try await bus.claim(consumer: "two")
                try await bus.publish(Batch([], checkpoint: Checkpoint(claim: claim, position: position)))
                #expect(try await bus.claim(consumer: "one").position == position)
                #expect(try await bus.claim(consumer: "two").position.offset == 0)
            }
        },
        ConformanceCase("after a crash a durable consumer goes on where it was, and has each result once") { fixture in
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
                            try await $0.take(5)
                        }
                        group.cancelAll()
                        return results
                    }
                }
                #expect(try results.map { try $0.decode(Other.self).number } == [0, 1, 2, 3, 4])
                #expect(try await publisher.claim(consumer: "conformance").position == end)
            }
        },
        ConformanceCase("a durable consumer that was taken over stops") { fixture in
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
    /// Consumes numbered events durably; answers each with an ``Other`` of the same number.
    fileprivate func consumeNumbers(_ handle: @escaping @Sendable (Int) async throws -> Void) async throws {
        let source = source
        try await consume(as: "conformance", [.type(Numbered.self)]) { message in
            let number = try message.decode(Numbered.self).number
            try await handle(number)
            return [try Envelope(Other(number: number), source: source, causedBy: message)]
        }
    }
}
