/// Acknowledged journalled messages a second from one process; beside SQLite alone.
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
                try await Comparison(rounds: run.options.rounds, count: run.messages, warmUp: run.messages / 10 + 1) {
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
