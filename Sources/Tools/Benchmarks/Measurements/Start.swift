/// Measures the time from the start of a broker with a long journal until it reports that it is ready. The baseline is
/// a broker with an empty journal.
struct Start {
    let run: BenchmarkRun
    let scratch: Scratch

    func measure() async throws -> [BenchmarkResult] {
        let empty = try BrokerProcess(scratch, run.options.durability, name: "empty")
        let full = try BrokerProcess(scratch, run.options.durability, name: "full")
        try await fill(full)
        let comparison = try await BaselineComparison(rounds: run.options.rounds, count: run.messages, warmUp: 0) { _ in
            try await milliseconds(empty)
        } value: { _ in
            try await milliseconds(full)
        }
        let result = run.result(
            comparison, unit: "ms", baseline: "a broker whose journal is empty", processes: 1,
            settings: ["dataBytes": .count(JournalFiller.shortData.count)])
        return [result]
    }

    /// Fills the journal with short messages.
    private func fill(_ broker: BrokerProcess) async throws {
        try await broker.run { _ in
            let filler = PeerProcess(.journalFiller, broker.address)
            try await PeerProcess.run([filler]) {
                var order = PeerOrder.run(run.messages)
                order.isShort = true
                order.limit = 900
                try await filler.perform(order)
            }
        }
    }

    /// The time from the start of the broker until it reports that it is ready, in milliseconds.
    private func milliseconds(_ broker: BrokerProcess) async throws -> Double {
        try await broker.run(\.startTime) / .milliseconds(1)
    }
}
