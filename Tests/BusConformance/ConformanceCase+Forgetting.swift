internal import EventBus
internal import Testing

extension ConformanceCase {
    static let forgetting = [
        ConformanceCase("the durable consumers are listed by name, each with its position and its lag") { fixture in
            try await fixture.withBus { bus in
                #expect(try await bus.consumers().isEmpty)
                try await bus.publish(0..<4)
                _ = try await bus.claim(consumer: "behind")
                let claim = try await bus.claim(consumer: "ahead")
                for message in try await bus.read(3, under: claim) {
                    try await bus.publish(Batch([], checkpoint: Checkpoint(claim: claim, handled: message)))
                }
                let consumers = try await bus.consumers()
                #expect(consumers.map(\.name) == ["ahead", "behind"])
                #expect(consumers.map(\.position.offset) == [3, 0])
                #expect(consumers.map(\.lag) == [1, 4])
                #expect(consumers.map(\.memberCount) == [0, 0])
                #expect(Set(consumers.map(\.position.epoch)) == [claim.epoch])
            }
        },
        ConformanceCase("a consumer that is forgotten begins anew, and its dead letters stay", needs: .deadLetters) {
            fixture in
            try await fixture.withBus { bus in
                try await bus.publish(0..<3)
                let letters = try await bus.giveUp(2, as: "finished")
                try await bus.forget(consumer: "finished")
                #expect(try await bus.consumers().isEmpty)
                #expect(try await bus.deadLetters(of: "finished") == letters)
                let claim = try await bus.claim(consumer: "finished")
                #expect(Set(claim.offsets.values) == [0])
                #expect(try await bus.read(3, under: claim).numbers == [0, 1, 2])
            }
        },
        ConformanceCase("a consumer that is not there can be forgotten, one without a name cannot") { fixture in
            try await fixture.withBus { bus in
                try await bus.forget(consumer: "nobody")
                let error = await #expect(throws: BusError.self) { try await bus.forget(consumer: "") }
                #expect(error?.code == .refused)
            }
        },
        ConformanceCase("what the owner of a forgotten consumer publishes late does not count for its successor") {
            fixture in
            try await fixture.withBuses { first, second in
                try await first.publish(0..<3)
                let old = try await first.claim(consumer: "renewed")
                let messages = try await first.read(3, under: old)
                try await first.leave(old)
                try await second.forget(consumer: "renewed")
                let new = try await second.claim(consumer: "renewed")
                #expect(new.ownerEpoch > old.ownerEpoch)
                let error = await #expect(throws: BusError.self) {
                    let checkpoint = messages.last.flatMap { Checkpoint(claim: old, handled: $0) }
                    try await first.publish(Batch([], checkpoint: checkpoint))
                }
                #expect(error?.code == .fenced)
                #expect(try await second.consumers().map(\.position.offset) == [0])
            }
        },
        ConformanceCase("a reader under a claim ends when its consumer is forgotten") { fixture in
            try await fixture.withBuses { first, second in
                let claim = try await first.claim(consumer: "stopped")
                try await first.withSubscription(to: [.type(Numbered.self)], under: claim) { messages in
                    try await first.leave(claim)
                    try await second.forget(consumer: "stopped")
                    for try await _ in messages {}
                }
            }
        },
        ConformanceCase("a consumer cannot be forgotten while members share it", needs: .sharedConsumers) { fixture in
            try await fixture.withBus { bus in
                let member = ConsumerMember.shared
                _ = try await bus.claim(consumer: "workers", as: member)
                #expect(try await bus.consumers().map(\.memberCount) == [1])
                let error = await #expect(throws: BusError.self) { try await bus.forget(consumer: "workers") }
                #expect(error?.code == .refused)
                #expect(error?.message.contains("'workers'") == true)
                await bus.leave(consumer: "workers", as: member)
                try await bus.forget(consumer: "workers")
                #expect(try await bus.consumers().isEmpty)
            }
        },
        ConformanceCase("an exclusive consumer cannot be forgotten while its owner's process lives") { fixture in
            try await fixture.withBus("conformance/2") { other in
                try await fixture.withBus { owner in
                    try await owner.publish(0..<1)
                    let claim = try await owner.claim(consumer: "sole")
                    let error = await #expect(throws: BusError.self) { try await other.forget(consumer: "sole") }
                    #expect(error?.code == .refused)
                    #expect(error?.message.contains("'sole'") == true)
                    for message in try await owner.read(1, under: claim) {
                        try await owner.publish(Batch([], checkpoint: Checkpoint(claim: claim, handled: message)))
                    }
                }
                try await other.forget(consumer: "sole")
                #expect(try await other.consumers().isEmpty)
            }
        },
        ConformanceCase("an exclusive consumer can be forgotten once its owner has left") { fixture in
            try await fixture.withBuses { first, second in
                try await first.leave(try await first.claim(consumer: "left"))
                try await second.forget(consumer: "left")
                #expect(try await second.consumers().isEmpty)
            }
        },
    ]
}

extension EventBus {
    /// Leaves, and returns once the bus knows.
    fileprivate func leave(_ claim: ConsumerClaim) async throws {
        await leave(consumer: claim.consumer, as: claim.member)
        _ = try await consumers()
    }
}
