internal import EventBus

/// Measures the number of journalled messages per second that the bus acknowledges to one process. The baseline is SQLite
/// alone; on NATS, a C program that stores the same messages.
///
/// On NATS the batches belong to sessions in all partitions, because only batches of different partitions are on their
/// way at the same time.
struct PublishJournalled {
    let run: BenchmarkRun
    let scratch: Scratch

    func measure() async throws -> [BenchmarkResult] {
        let broker = try BusProcess(scratch, kind: run.options.bus, durability: run.options.durability)
        let bare = try BareBus(scratch, beside: broker)
        let baseline =
            broker.isNATS
            ? bare.peer(.publisher)
            : PeerProcess(
                .bareJournal, try scratch.folder("sqlite") + "/journal.sqlite", durability: run.options.durability)
        let sessionCount = broker.isNATS ? Partition.count : 1
        let publisher = broker.peer(.busPublisher)
        let comparison = try await broker.run { _ in
            try await PeerProcess.run([baseline, publisher]) {
                try await BaselineComparison(
                    rounds: run.options.rounds, count: run.messages, warmUp: run.messages / 10 + 1
                ) {
                    if !broker.isNATS { return rate(try await baseline.perform(.run($0))) }
                    return try await publish($0, sessions: sessionCount, by: baseline)
                } value: {
                    try await publish($0, sessions: sessionCount, by: publisher)
                }
            }
        }
        var settings: [String: SettingValue] = [
            "batch": .count(BusPublisher.batchSize), "window": .count(BusPublisher.window),
            "sessions": .count(sessionCount),
        ]
        if !broker.isNATS { settings["synchronous"] = .text(run.options.durability.synchronous) }
        let result = run.result(
            comparison, unit: "messages/s",
            baseline: broker.isNATS ? bare.description : "SQLite alone, a hundred rows a transaction", processes: 2,
            settings: settings)
        return [result]
    }

    private func publish(_ count: Int, sessions sessionCount: Int, by publisher: PeerProcess) async throws -> Double {
        var prepare = PeerOrder.prepare(count)
        prepare.sessionCount = sessionCount
        try await publisher.perform(prepare)
        return rate(try await publisher.perform(.run(count)))
    }

    private func rate(_ report: Report) -> Double {
        Double(report.count) / report.seconds
    }
}

/// Measures the number of transient messages per second that arrive from one process at another. The broker
/// acknowledges the messages; NATS does not. The baselines are the same frames on bare sockets, or of C programs; and
/// beside a broker, if nats-server is installed, messages of NATS without JetStream.
struct PublishPlain {
    private struct Baseline {
        /// The second part of the result's name.
        var part: String?
        let description: String
        let feed: Feed
    }

    let run: BenchmarkRun
    let scratch: Scratch

    func measure() async throws -> [BenchmarkResult] {
        let broker = try BusProcess(scratch, kind: run.options.bus, durability: run.options.durability)
        let baseline = try BareBus(scratch, beside: broker)
        let hasNATS = !broker.isNATS && (try? Executables.natsServer) != nil
        let servers = try NATSServers(hasNATS ? 1 : 0, in: try scratch.folder("nats"), run.options.durability)
        let baselines =
            [Baseline(description: baseline.description, feed: baseline.feed([baseline.peer(.subscriber)]))]
            + servers.hosts.map(natsCore)
        let bus = Feed(
            publisher: broker.peer(.busPublisher),
            subscribers: [broker.peer(.busSubscriber)])
        let peers = baseline.proxies + baselines.flatMap(\.feed.peers) + bus.peers
        let comparison = try await broker.run { _ in
            try await servers.run { _ in
                try await PeerProcess.run(peers) {
                    try await BaselineComparison(
                        rounds: run.options.rounds, count: run.messages, warmUp: run.messages / 10 + 1
                    ) { count in
                        var deliveries: [Delivery] = []
                        for baseline in baselines { deliveries.append(try await baseline.feed.deliver(count)) }
                        return deliveries
                    } value: { count in
                        let delivery = try await bus.deliver(count, isTransient: true)
                        return baselines.map { _ in delivery }
                    }
                }
            }
        }
        return baselines.enumerated().map { index, baseline in
            let comparison = comparison.map { $0[index] }
            return run.result(
                comparison.map(\.rate), part: baseline.part, unit: "messages/s", baseline: baseline.description,
                processes: 3,
                settings: comparison.losses.merging([
                    "batch": .count(BusPublisher.batchSize),
                    "window": .count(BusPublisher.window(for: 1, onThread: !broker.isNATS)),
                ]) { old, _ in old })
        }
    }

    /// NATS without JetStream.
    /// - Parameter host: `HOST:PORT` of the server.
    private func natsCore(at host: String) -> Baseline {
        Baseline(
            part: "nats", description: "NATS core: C on libnats, without JetStream",
            feed: Feed(
                publisher: PeerProcess(.natsCorePublisher, "nats://\(host)"),
                subscribers: [PeerProcess(.natsCoreSubscriber, "nats://\(host)")], isBare: true))
    }
}
