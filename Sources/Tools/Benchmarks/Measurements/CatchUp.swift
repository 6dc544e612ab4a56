internal import BusProtocol
internal import EventBus

/// Measures a subscriber that reads a long journal, from its subscription to the last message. The baseline is the same
/// frames on bare sockets, sent live; on NATS, a C program that reads the same journal.
struct CatchUp {
    /// The maximum number of messages in the baseline, even if the measurement has more messages.
    private static let bareLimit = 200_000

    let run: BenchmarkRun
    let scratch: Scratch

    func measure() async throws -> [BenchmarkResult] {
        let broker = try BusProcess(scratch, run.options.bus, run.options.durability)
        let bare = try BareBus(scratch, beside: broker)
        let bareReader = bare.peer(.subscriber)
        let feed = bare.feed([bareReader])
        let filler = broker.filler()
        let reader = PeerProcess(.busSubscriber, broker.address)
        let peers = bare.proxies + [filler, reader] + feed.peers
        let bareCount = broker.isNATS ? run.messages : min(run.messages, Self.bareLimit)
        let comparison = try await broker.run { _ in
            try await PeerProcess.run(peers) {
                try await filler.perform(.run(run.messages))
                return try await BaselineComparison(
                    rounds: run.options.rounds, count: run.messages, warmUp: run.messages / 10 + 1
                ) {
                    try await broker.isNATS ? bareReader.catchUp($0) : feed.deliver(min($0, Self.bareLimit))
                } value: {
                    try await reader.catchUp($0)
                }
            }
        }
        let result = run.result(
            comparison.map(\.rate), unit: "messages/s", baseline: bare.description, processes: 2,
            settings: comparison.losses.merging([
                "baselineMessages": .count(bareCount),
                "pageMessages": .count(Limits.pageCount),
            ]) { old, _ in old },
            failure: comparison.failure)
        return [result]
    }
}
