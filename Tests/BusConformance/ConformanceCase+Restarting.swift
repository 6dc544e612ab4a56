internal import EventBus
internal import Testing

extension ConformanceCase {
    static let restarting = [
        ConformanceCase("all that was acknowledged is there after a restart", needs: .survivesRestart) { fixture in
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
        ConformanceCase("documents are there after a restart, what was withdrawn is not", needs: .survivesRestart) {
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
            "a durable consumer goes on after a restart, its predecessor stays fenced", needs: .survivesRestart
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
                #expect(again.ownerEpoch == claim.ownerEpoch)
                #expect(again.position == message.position)
                #expect(try await bus.read(2, under: again).numbers == [1, 2])
            }
        },
        ConformanceCase(
            "those who share a consumer go on sharing after a restart", needs: [.survivesRestart, .sharedConsumers]
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
        ConformanceCase("dead letters are there after a restart", needs: [.survivesRestart, .deadLetters]) { fixture in
            try await fixture.withBus { bus in
                try await bus.publish(0..<2)
                let letters = try await bus.giveUp(2, as: "counter")
                try await fixture.restart()
                #expect(try await bus.inspect.deadLetters(of: "counter") == letters)
                var batch = Batch([])
                batch.settledLetters = [letters[0].id]
                try await bus.publish(batch)
                #expect(try await bus.inspect.deadLetters(of: "counter") == [letters[1]])
            }
        },
        ConformanceCase(
            "publishers and readers go on across a restart: nothing is missing, nothing comes twice",
            needs: .survivesRestart
        ) { fixture in
            try await fixture.withBuses { publisher, reader in
                let received = try await reader.withSubscription(to: [.type(Numbered.self)], from: .now) { messages in
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
            "whoever served queries serves them again after a restart", needs: [.survivesRestart, .queries]
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
