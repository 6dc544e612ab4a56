internal import BusProtocol
internal import EventBus

/// Measures a subscriber that reads a long journal, from its subscription to the last message. The baseline is the same
/// frames on bare sockets, sent live.
struct CatchUp {
    /// The maximum number of messages in the baseline, even if the measurement has more messages.
    private static let bareLimit = 200_000

    let run: BenchmarkRun
    let scratch: Scratch

    func measure() async throws -> [BenchmarkResult] {
        let proxy = try scratch.folder("proxy")
        let broker = try BrokerProcess(scratch, run.options.durability)
        let bare = Feed(
            publisher: PeerProcess(.barePublisher, proxy), subscribers: [PeerProcess(.bareSubscriber, proxy)],
            isBare: true)
        let filler = PeerProcess(.journalFiller, broker.address)
        let reader = PeerProcess(.busSubscriber, broker.address)
        let peers = [PeerProcess(.bareProxy, proxy), filler, reader] + bare.peers
        let comparison = try await broker.run { _ in
            try await PeerProcess.run(peers) {
                try await filler.perform(.run(run.messages))
                return try await BaselineComparison(
                    rounds: run.options.rounds, count: run.messages, warmUp: run.messages / 10 + 1
                ) {
                    try await bare.deliver(min($0, Self.bareLimit))
                } value: {
                    try await reader.catchUp($0)
                }
            }
        }
        let result = run.result(
            comparison.map(\.rate), unit: "messages/s", baseline: "bare libzmq: PUB, XSUB/XPUB proxy, SUB",
            processes: 2,
            settings: comparison.losses.merging([
                "baselineMessages": .count(min(run.messages, Self.bareLimit)),
                "pageMessages": .count(Limits.pageCount),
            ]) { old, _ in old },
            failure: comparison.failure)
        return [result]
    }
}
