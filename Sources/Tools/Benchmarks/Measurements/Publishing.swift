/// Measures the number of journalled messages per second that the broker acknowledges to one process. The baseline is
/// SQLite alone.
struct PublishJournalled {
    let run: BenchmarkRun
    let scratch: Scratch

    func measure() async throws -> [BenchmarkResult] {
        let broker = try BrokerProcess(scratch, run.options.durability)
        let sqlite = PeerProcess(
            .bareJournal, try scratch.folder("sqlite") + "/journal.sqlite", durability: run.options.durability)
        let publisher = PeerProcess(.busPublisher, broker.address)
        let comparison = try await broker.run { _ in
            try await PeerProcess.run([sqlite, publisher]) {
                try await BaselineComparison(
                    rounds: run.options.rounds, count: run.messages, warmUp: run.messages / 10 + 1
                ) {
                    rate(try await sqlite.perform(.run($0)))
                } value: {
                    try await publisher.perform(.prepare($0))
                    return rate(try await publisher.perform(.run($0)))
                }
            }
        }
        let result = run.result(
            comparison, unit: "messages/s", baseline: "SQLite alone, a hundred rows a transaction", processes: 2,
            settings: [
                "batch": .count(BusPublisher.batchSize), "window": .count(BusPublisher.window),
                "synchronous": .text(run.options.durability.synchronous),
            ])
        return [result]
    }

    private func rate(_ report: Report) -> Double {
        Double(report.count) / report.seconds
    }
}

/// Measures the number of transient messages per second that arrive from one process at another. The broker
/// acknowledges the messages. The baseline is the same frames on bare sockets.
struct PublishPlain {
    let run: BenchmarkRun
    let scratch: Scratch

    func measure() async throws -> [BenchmarkResult] {
        let proxy = try scratch.folder("proxy")
        let broker = try BrokerProcess(scratch, run.options.durability)
        let bare = Feed(
            publisher: PeerProcess(.barePublisher, proxy), subscribers: [PeerProcess(.bareSubscriber, proxy)],
            isBare: true)
        let bus = Feed(
            publisher: PeerProcess(.busPublisher, broker.address),
            subscribers: [PeerProcess(.busSubscriber, broker.address)], isBare: false)
        let peers = [PeerProcess(.bareProxy, proxy)] + bare.peers + bus.peers
        let comparison = try await broker.run { _ in
            try await PeerProcess.run(peers) {
                try await BaselineComparison(
                    rounds: run.options.rounds, count: run.messages, warmUp: run.messages / 10 + 1
                ) {
                    try await bare.deliver($0)
                } value: {
                    try await bus.deliver($0, isTransient: true)
                }
            }
        }
        let result = run.result(
            comparison.map(\.rate), unit: "messages/s", baseline: "bare libzmq: PUB, XSUB/XPUB proxy, SUB",
            processes: 3,
            settings: comparison.losses.merging([
                "batch": .count(BusPublisher.batchSize), "window": .count(BusPublisher.window),
            ]) { old, _ in old })
        return [result]
    }
}
