internal import EventBus
internal import TestSupport
internal import Testing

extension ConformanceCase {
    static let restarting = [
        ConformanceCase("All acknowledged messages are in the journal after a restart", needs: .survivesRestart) {
            fixture in
            try await fixture.withBus { bus in
                let end = try await bus.publish(0..<100)
                try await fixture.restart()
                let received = try await bus.withSubscription(to: [.all], from: .beginning) {
                    try await $0.receive(100)
                }
                #expect(try received.numbers == Array(0..<100))
                let next = try await bus.publish([100])
                #expect(next.epoch == end.epoch && next.offset > end.offset)
            }
        },
        ConformanceCase(
            "Documents are retained across a restart, and withdrawn ones stay withdrawn", needs: .survivesRestart
        ) {
            fixture in
            try await fixture.withBus { bus in
                try await bus.publish(Setting(name: "a", value: "1"))
                try await bus.publish(Setting(name: "a", value: "2"))
                try await bus.publish(Setting(name: "b", value: "3"))
                try await bus.withdraw(Setting(name: "b", value: ""))
                try await fixture.restart()
                let documents = try await bus.documents(matching: [.type(Setting.self)])
                #expect(try documents.map { try $0.decode(Setting.self).value } == ["2"])
            }
        },
        ConformanceCase(
            "A durable consumer continues after a restart, and its predecessor stays fenced", needs: .survivesRestart
        ) { fixture in
            try await fixture.withBus { bus in
                let end = try await bus.publish(0..<3)
                let old = try await bus.claim(consumer: "counter")
                let claim = try await bus.claim(consumer: "counter")
                let message = try #require(try await bus.read(1, under: claim).first)
                try await bus.publish(Batch([], checkpoint: Checkpoint(claim: claim, handled: Delivery(message))))
                try await fixture.restart()
                let error = await #expect(throws: BusError.self) {
                    try await bus.publish(Batch([], checkpoint: Checkpoint(claim: old, upTo: end)))
                }
                #expect(error?.code == .fenced)
                let again = try await bus.claim(consumer: "counter", as: claim.member)
                #expect(again.ownerGeneration == claim.ownerGeneration)
                #expect(again.position == message.position)
                #expect(try await bus.read(2, under: again).numbers == [1, 2])
            }
        },
        ConformanceCase(
            "Members that share a consumer continue to share it after a restart",
            needs: [.survivesRestart, .sharedConsumers]
        ) { fixture in
            try await fixture.withBuses { first, second in
                try await withBackground([{ try await first.work() }, { try await second.work() }]) {
                    let before = try await fixture.handledByTwo()
                    try await fixture.restart()
                    let after = try await fixture.handledByTwo()
                    #expect(
                        Set(before.map(\.attributes.causationID)).isDisjoint(with: after.map(\.attributes.causationID)))
                }
            }
        },
        ConformanceCase("Dead letters are kept across a restart", needs: [.survivesRestart, .deadLetters]) { fixture in
            try await fixture.withBus { bus in
                try await bus.publish(0..<2)
                let deadLetters = try await bus.giveUp(2, as: "counter")
                try await fixture.restart()
                #expect(try await bus.inspect.deadLetters(of: "counter") == deadLetters)
                var batch = Batch([])
                batch.resolvedDeadLetters = [deadLetters[0].id]
                try await bus.publish(batch)
                #expect(try await bus.inspect.deadLetters(of: "counter") == [deadLetters[1]])
            }
        },
        ConformanceCase(
            "Publishers and readers continue across a restart, without a loss or a duplicate",
            needs: .survivesRestart
        ) { fixture in
            try await fixture.withBuses { publisher, reader in
                let received = try await reader.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                    let publishing: @Sendable () async throws -> Void = {
                        for number in 0..<600 { try await publisher.publish([number]) }
                    }
                    async let published: Void = publishing()
                    var received = try await messages.receive(100)
                    try await fixture.restart()
                    received += try await messages.receive(500)
                    try await published
                    return received
                }
                #expect(try received.numbers == Array(0..<600))
                #expect(Set(received.offsets).count == 600 && received.offsets == received.offsets.sorted())
            }
        },
        ConformanceCase(
            "A process that serves queries continues to serve them after a restart",
            needs: [.survivesRestart, .queries]
        ) { fixture in
            try await fixture.withBuses { asker, server in
                try await server.whileAnswering {
                    let before = try await asker.ask(Question(number: 1))
                    try await fixture.restart()
                    let after = try await asker.askUntilServed(Question(number: 2))
                    #expect([before.number, after.number] == [1, 2])
                }
            }
        },
    ]
}

extension EventBus {
    /// Asks until the query is served: the server may reconnect later than the asker.
    fileprivate func askUntilServed(_ question: Question) async throws -> Question.Answer {
        while true {
            do {
                return try await ask(question, timeout: .seconds(600))
            } catch let error as BusError where error.code == .unserved {
                await Task.yield()
            }
        }
    }
}
