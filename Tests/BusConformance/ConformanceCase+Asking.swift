internal import EventBus
internal import Foundation
internal import Support
internal import TestSupport
internal import Testing

extension ConformanceCase {
    static let asking = [
        ConformanceCase("A query gets one answer, from a process that serves its type", needs: .queries) { fixture in
            try await fixture.withBuses { asker, server in
                try await server.whileAnswering {
                    let answer = try await asker.ask(Question(number: 7))
                    #expect(answer == Question.Answer(number: 7, server: server.source))
                }
            }
        },
        ConformanceCase(
            "Several processes that serve the same query take turns", needs: .queries,
            onNATS: "each asker takes turns by itself, so two askers may ask the same process"
        ) { fixture in
            try await fixture.withBuses { first, second in
                let servers = try await first.whileAnswering {
                    try await second.whileAnswering {
                        var servers: [String] = []
                        for number in 0..<6 { servers.append(try await first.ask(Question(number: number)).server) }
                        return servers
                    }
                }
                #expect(servers.filter { $0 == first.source }.count == 3)
                #expect(servers.filter { $0 == second.source }.count == 3)
            }
        },
        ConformanceCase("One server answers several queries at the same time", needs: .queries) { fixture in
            try await fixture.withBuses { asker, server in
                let second = Latch()
                let answers = try await server.whileAnswering { query in
                    // The first query is answered only after the second has arrived.
                    let question = try query.decode(Question.self)
                    if question.number == 1 { await second.waitUntilOpenOrCancelled() } else { second.open() }
                    return try query.answer(by: server.source)
                } during: {
                    async let first = asker.ask(Question(number: 1), timeout: .seconds(50))
                    async let other = asker.ask(Question(number: 2), timeout: .seconds(50))
                    return try await [first.number, other.number]
                }
                #expect(answers == [1, 2])
            }
        },
        ConformanceCase("A query that no process serves is refused at once", needs: .queries) { fixture in
            try await fixture.withBuses { asker, server in
                await asker.expectNoAnswer(timeout: .seconds(600), [.unserved])
                try await server.whileAnswering { _ = try await asker.ask(Question(number: 1)) }
                // The process may receive the query while it stops serving, and refuses it then.
                await asker.expectNoAnswer(timeout: .seconds(600), [.unserved, .cancelled])
            }
        },
        ConformanceCase("A query has a deadline, after which the server stops its work", needs: .queries) { fixture in
            try await fixture.withBuses { asker, server in
                let stopped = Latch()
                try await server.whileAnswering { query in
                    await Latch().waitUntilOpenOrCancelled()
                    stopped.open()
                    return try query.answer(by: server.source)
                } during: {
                    await asker.expectNoAnswer(timeout: .milliseconds(100), [.deadline])
                    await stopped.waitUntilOpenOrCancelled()
                }
            }
        },
        ConformanceCase("A server stops its work when the asker gives up the query", needs: .queries) { fixture in
            try await fixture.withBuses { asker, server in
                let (begun, stopped) = (Latch(), Latch())
                try await server.whileAnswering { query in
                    begun.open()
                    await Latch().waitUntilOpenOrCancelled()
                    stopped.open()
                    return try query.answer(by: server.source)
                } during: {
                    await #expect(throws: CancellationError.self) {
                        try await withThrowingTaskGroup { group in
                            group.addTask {
                                _ = try await asker.ask(Question(number: 1), timeout: .seconds(600))
                            }
                            await begun.waitUntilOpenOrCancelled()
                            group.cancelAll()
                            try await group.waitForAll()
                        }
                    }
                    await stopped.waitUntilOpenOrCancelled()
                }
            }
        },
        ConformanceCase("An asker gets an error when the server of its query stops", needs: .queries) { fixture in
            try await fixture.withBuses { asker, server in
                let (serving, begun) = (Latch(), Latch())
                async let asked: Void = asker.expectNoAnswer(
                    after: serving, timeout: .seconds(600), [.cancelled, .unserved])
                try await server.whileAnswering { _ in
                    begun.open()
                    await Latch().waitUntilOpenOrCancelled()
                    throw CancellationError()
                } during: {
                    serving.open()
                    await begun.waitUntilOpenOrCancelled()
                }
                await asked
            }
        },
        ConformanceCase("A server that cannot answer refuses the query, and continues to serve", needs: .queries) {
            fixture in
            try await fixture.withBuses { asker, server in
                try await server.whileAnswering { query in
                    guard try query.decode(Question.self).number == 2 else { throw BusError(.malformed, "not two") }
                    return try query.answer(by: server.source)
                } during: {
                    await asker.expectNoAnswer(timeout: .seconds(600), [.cancelled])
                    let answer = try await asker.ask(Question(number: 2))
                    #expect(answer.number == 2)
                }
            }
        },
        ConformanceCase(
            "A query or an answer that is too large is refused, and later queries are answered", needs: .queries
        ) {
            fixture in
            try await fixture.withBuses { asker, server in
                try await server.whileAnswering { query in
                    var answer = try query.answer(by: server.source)
                    if try query.decode(Question.self).number == 1 { answer.data = Data(count: 9 << 20) }
                    return answer
                } during: {
                    await asker.expectNoAnswer(timeout: .seconds(600), [.cancelled])
                    var large = try Envelope(Question(number: 2), source: asker.source)
                    large.data = Data(count: 9 << 20)
                    let query = large
                    let error = await #expect(throws: BusError.self) {
                        _ = try await asker.ask(query, timeout: .seconds(600))
                    }
                    #expect(error?.code == .refused)
                    #expect(try await asker.ask(Question(number: 2)).number == 2)
                }
            }
        },
        ConformanceCase("An answer can be an error", needs: .queries) { fixture in
            try await fixture.withBuses { asker, server in
                try await server.whileAnswering { query in
                    try Envelope(Trouble(), source: server.source, causedBy: query)
                } during: {
                    let query = try Envelope(Question(number: 1), source: asker.source)
                    let answer = try await asker.ask(query, timeout: .seconds(600))
                    #expect(answer.type == Trouble.type)
                    #expect(answer.attributes.causationID == query.id)
                    await asker.expectNoAnswer(timeout: .seconds(600), [.refused])
                }
            }
        },
        ConformanceCase(
            "Queries and answers are never recorded, and no other process receives them", needs: .queries,
            onNATS: "a user of the servers with the right to read them receives them too"
        ) {
            fixture in
            try await fixture.withBuses { asker, server in
                let heard = try await asker.withSubscription(to: [.all], from: .now) { messages in
                    try await server.whileAnswering { _ = try await asker.ask(Question(number: 1)) }
                    try await asker.publish(Marker())
                    return try await messages.beforeMarker()
                }
                #expect(heard.isEmpty)
                let end = try await asker.inspect.end()
                #expect(
                    try await asker.inspect.lag(after: Position(epoch: end.epoch, offset: 0), matching: [.all]) == 1)
                let error = await #expect(throws: BusError.self) {
                    try await asker.publish(Batch([Envelope(Question(number: 1), source: asker.source)]))
                }
                #expect(error?.code == .refused)
                #expect(try await asker.inspect.end() == end)
            }
        },
    ]
}

extension EventBus {
    /// Asks, and expects an error with one of these codes.
    fileprivate func expectNoAnswer(
        after gate: Latch? = nil, timeout: Duration, _ codes: Set<BusError.Code>,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        await gate?.waitUntilOpenOrCancelled()
        let error = await #expect(throws: BusError.self, sourceLocation: sourceLocation) {
            _ = try await ask(Question(number: 1), timeout: timeout)
        }
        #expect(error.map { codes.contains($0.code) } == true, sourceLocation: sourceLocation)
    }
}
