/// Measures the deliveries of messages to 100 subscribers. Each subscriber must receive every message in order. The
/// baseline is 100 bare SUB sockets; on NATS, 100 connections of C programs.
struct FanOut {
    private static let processes = 10
    /// The number of subscribers in each process, each with its own connection.
    private static let connections = 10

    let run: BenchmarkRun
    let scratch: Scratch

    func measure() async throws -> [BenchmarkResult] {
        let broker = try BusProcess(scratch, kind: run.options.bus, durability: run.options.durability)
        let baseline = try BareBus(scratch, beside: broker)
        let bare = baseline.feed(
            (0..<Self.processes).map { _ in baseline.peer(.subscriber, connections: Self.connections) },
            connections: Self.connections)
        let bus = Feed(
            publisher: broker.peer(.busPublisher),
            subscribers: (0..<Self.processes).map { _ in
                broker.peer(.busSubscriber, connections: Self.connections)
            },
            connections: Self.connections)
        let peers = baseline.proxies + bare.peers + bus.peers
        let comparison = try await broker.run { _ in
            try await PeerProcess.run(peers) {
                try await BaselineComparison(
                    rounds: run.options.rounds, count: run.messages, warmUp: run.messages / 10 + 1
                ) {
                    try await bare.deliver($0)
                } value: {
                    try await bus.deliver($0)
                }
            }
        }
        let result = run.result(
            comparison.map(\.rate), unit: "deliveries/s", baseline: baseline.description,
            processes: Self.processes + 2,
            settings: comparison.losses.merging([
                "batch": .count(BusPublisher.batchSize), "subscribers": .count(Self.processes * Self.connections),
            ]) { old, _ in old },
            failure: comparison.failure)
        return [result]
    }
}
