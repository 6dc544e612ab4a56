/// Measures the time from a typed command to the typed event that its handler publishes in answer. Both messages are
/// journalled. The baseline is the same messages on PUB and SUB sockets with libzmq's proxy; on NATS, the same two stored
/// messages of C programs.
struct RoundTrip {
    let run: BenchmarkRun
    let scratch: Scratch

    func measure() async throws -> [BenchmarkResult] {
        let broker = try BusProcess(scratch, kind: run.options.bus, durability: run.options.durability)
        let bare = try BareBus(scratch, beside: broker)
        let bareClient = bare.peer(.client)
        let busClient = broker.peer(.busClient)
        let peers =
            bare.proxies + [bare.peer(.echo), bareClient, broker.peer(.busEcho), busClient]
        let comparison = try await broker.run { _ in
            try await PeerProcess.run(peers) {
                try await BaselineComparison(
                    rounds: run.options.rounds, count: run.messages, warmUp: run.messages / 4 + 1
                ) {
                    try await bareClient.perform(.run($0))
                } value: {
                    try await busClient.perform(.run($0))
                }
            }
        }
        return [
            result("p50", comparison: comparison.map(\.median), bare: bare),
            result("p99", comparison: comparison.map(\.percentile99), bare: bare),
        ]
    }

    private func result(
        _ part: String, comparison: BaselineComparison<Double>, bare: BareBus
    ) -> BenchmarkResult {
        run.result(comparison, part: part, unit: "µs", baseline: bare.description, processes: 3)
    }
}
