/// Measures the deliveries of messages to 100 subscribers. Each subscriber must receive every message in order. The
/// baseline is 100 bare SUB sockets.
struct FanOut {
    private static let processes = 10
    /// The number of subscribers in each process, each with its own connection.
    private static let connections = 10

    let run: BenchmarkRun
    let scratch: Scratch

    func measure() async throws -> [BenchmarkResult] {
        let proxy = try scratch.folder("proxy")
        let broker = try BrokerProcess(scratch, run.options.durability)
        let bare = Feed(
            publisher: PeerProcess(.barePublisher, proxy), subscribers: subscribers(.bareSubscriber, proxy),
            connections: Self.connections, isBare: true)
        let bus = Feed(
            publisher: PeerProcess(.busPublisher, broker.address),
            subscribers: subscribers(.busSubscriber, broker.address), connections: Self.connections, isBare: false)
        let peers = [PeerProcess(.bareProxy, proxy)] + bare.peers + bus.peers
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
            comparison.map(\.rate), unit: "deliveries/s", baseline: "bare libzmq: PUB, XSUB/XPUB proxy, SUB",
            processes: Self.processes + 2,
            settings: comparison.losses.merging([
                "batch": .count(BusPublisher.batchSize), "subscribers": .count(Self.processes * Self.connections),
            ]) { old, _ in old },
            failure: comparison.failure)
        return [result]
    }

    private func subscribers(_ role: PeerRole, _ address: String) -> [PeerProcess] {
        (0..<Self.processes).map { _ in PeerProcess(role, address, connections: Self.connections) }
    }
}
