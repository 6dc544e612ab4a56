internal import EventBus

/// The client of the round trip.
struct BusClient {
    let address: String

    func run(_ control: Control) async throws {
        try await BusPeer.withBus(at: address) { bus in
            try await bus.withSubscription(to: [.type(BenchmarkEvent.self)], from: .now) { messages in
                var answers = messages.makeAsyncIterator()
                try await control.report()
                while let order = try await control.nextOrder() {
                    var latencies: [Int64] = []
                    for index in 0..<order.count {
                        let begin = MonotonicTime.now
                        let request = try await bus.send(BenchmarkRequest(number: Payload.firstNumber + index))
                        guard let answer = try await answers.next(), answer.attributes.causationID == request.id,
                            try answer.decode(BenchmarkEvent.self).number == Payload.firstNumber + index
                        else { throw BenchmarkError("the next event is not the answer to the request") }
                        latencies.append(MonotonicTime.now - begin)
                    }
                    try await control.report(Report(latencies: latencies))
                }
            }
        }
    }
}

/// The handler of the round trip. It answers each typed command with a typed event.
struct BusEcho {
    let address: String

    func run(_ control: Control) async throws {
        try await BusPeer.withBus(at: address) { bus in
            try await bus.withSubscription(to: [.type(BenchmarkRequest.self)], from: .now) { messages in
                try await control.report()
                for try await message in messages {
                    let request = try message.decode(BenchmarkRequest.self)
                    try await bus.publish(BenchmarkEvent(number: request.number), causedBy: message)
                }
            }
        }
    }
}
