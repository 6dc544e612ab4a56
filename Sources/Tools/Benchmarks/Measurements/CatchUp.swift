internal import BusProtocol
internal import EventBus

/// Measures a subscriber that reads a long journal, from its subscription to the last message. The baseline is the same
/// frames on bare sockets, sent live; on NATS, a C program that reads the same journal, once with the attributes of each
/// message and once without.
struct CatchUp {
    /// The maximum number of messages in the baseline, even if the measurement has more messages.
    private static let bareLimit = 200_000

    let run: BenchmarkRun
    let scratch: Scratch

    func measure() async throws -> [BenchmarkResult] {
        let broker = try BusProcess(scratch, kind: run.options.bus, durability: run.options.durability)
        let bare = try BareBus(scratch, beside: broker)
        let bareReader = bare.peer(.subscriber)
        let feed = bare.feed([bareReader])
        let filler = broker.filler()
        let reader = broker.peer(.busSubscriber)
        let peers = bare.proxies + [filler, reader] + feed.peers
        return try await broker.run { _ in
            try await PeerProcess.run(peers) {
                try await filler.perform(.run(run.messages))
                func compare(_ baseline: (Int) async throws -> Delivery) async throws -> BaselineComparison<Delivery> {
                    try await BaselineComparison(
                        rounds: run.options.rounds, count: run.messages, warmUp: run.messages / 10 + 1,
                        baseline: baseline, value: { try await reader.catchUp($0) })
                }
                guard broker.isNATS else {
                    let limit = min(run.messages, Self.bareLimit)
                    let comparison = try await compare { try await feed.deliver(min($0, limit)) }
                    return [result(comparison, bare.description, baselineCount: limit)]
                }
                let attributes = try await compare { try await bareReader.catchUp($0) }
                let transfer = try await compare { try await bareReader.catchUp($0, readsAttributes: false) }
                return [
                    result(attributes, "\(bare.description), reading the attributes"),
                    result(transfer, "\(bare.description), not reading them", part: "transfer"),
                ]
            }
        }
    }

    private func result(
        _ comparison: BaselineComparison<Delivery>, _ baseline: String, part: String? = nil, baselineCount: Int? = nil
    ) -> BenchmarkResult {
        run.result(
            comparison.map(\.rate), part: part, unit: "messages/s", baseline: baseline, processes: 2,
            settings: comparison.losses.merging([
                "baselineMessages": .count(baselineCount ?? run.messages), "pageMessages": .count(Limits.pageCount),
            ]) { old, _ in old },
            failure: comparison.failure)
    }
}
