/// Measures the time from a typed command to the typed event that its handler publishes in answer. Both messages are
/// journalled. The baseline is the same messages on PUB and SUB sockets with libzmq's proxy.
struct RoundTrip {
    let run: BenchmarkRun
    let scratch: Scratch

    func measure() async throws -> [BenchmarkResult] {
        let proxy = try scratch.folder("proxy")
        let broker = try BrokerProcess(scratch, run.options.durability)
        let bareClient = PeerProcess(.bareClient, proxy)
        let busClient = PeerProcess(.busClient, broker.address)
        let peers = [
            PeerProcess(.bareProxy, proxy), PeerProcess(.bareEcho, proxy), bareClient,
            PeerProcess(.busEcho, broker.address), busClient,
        ]
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
            result("p50", comparison.map(\.median)), result("p99", comparison.map(\.percentile99)),
        ]
    }

    private func result(_ part: String, _ comparison: BaselineComparison<Double>) -> BenchmarkResult {
        run.result(
            comparison, part: part, unit: "µs", baseline: "bare libzmq: PUB, XSUB/XPUB proxy, SUB", processes: 3)
    }
}
