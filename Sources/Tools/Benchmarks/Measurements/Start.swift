/// Measures the time from the start of a broker with a long journal until it reports that it is ready. The baseline is
/// a broker with an empty journal. On NATS, the server starts first, and the broker is the steward.
struct Start {
    let run: BenchmarkRun
    let scratch: Scratch

    func measure() async throws -> [BenchmarkResult] {
        let empty = try BusProcess(scratch, kind: run.options.bus, durability: run.options.durability, name: "empty")
        let full = try BusProcess(scratch, kind: run.options.bus, durability: run.options.durability, name: "full")
        try await fill(full)
        let comparison = try await BaselineComparison(rounds: run.options.rounds, count: run.messages, warmUp: 0) { _ in
            try await milliseconds(empty)
        } value: { _ in
            try await milliseconds(full)
        }
        let result = run.result(
            comparison, unit: "ms", baseline: "a bus whose journal is empty", processes: 1,
            settings: ["dataBytes": .count(JournalFiller.shortData.count)])
        return [result]
    }

    /// Fills the journal with short messages.
    private func fill(_ broker: BusProcess) async throws {
        try await broker.run { _ in
            let filler = broker.filler()
            try await PeerProcess.run([filler]) {
                var order = PeerOrder.run(run.messages)
                order.isShort = true
                order.limit = 900
                try await filler.perform(order)
            }
        }
    }

    /// The time from the start of the broker until it reports that it is ready, in milliseconds.
    private func milliseconds(_ broker: BusProcess) async throws -> Double {
        try await broker.run(\.startTime) / .milliseconds(1)
    }
}
