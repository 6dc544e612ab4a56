/// One publisher and its subscribers, on the bus or on bare sockets.
struct Feed: Sendable {
    let publisher: PeerProcess
    let subscribers: [PeerProcess]
    /// The number of subscribers in each subscribing process.
    var connections = 1
    /// True if a subscriber knows when the other side has its subscription. A subscription on a bare socket of libzmq is
    /// not confirmed.
    var isConfirmed = true
    /// True for a baseline.
    var isBare = false

    var peers: [PeerProcess] { [publisher] + subscribers }

    /// Publishes messages and counts the messages that arrive.
    func deliver(_ count: Int, isTransient: Bool = false) async throws -> Delivery {
        var run = PeerOrder.run(count)
        run.isTransient = isTransient
        var prepare = PeerOrder.prepare(count)
        prepare.isTransient = isTransient
        if isConfirmed {
            try await publisher.perform(prepare)
            _ = try await all(prepare)
        } else {
            try await openBareWay(prepare)
        }
        // On bare sockets and without a journal, lost messages do not arrive later, so a short wait is enough.
        run.patience = isBare || isTransient ? 500 : 4000
        let order = run
        async let reports = all(order)
        try await publisher.perform(order)
        return Delivery(Report(merging: try await reports), expected: count * connections * subscribers.count)
    }

    /// Sends probes until every subscriber has received a probe.
    private func openBareWay(_ prepare: PeerOrder) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await all(prepare) }
            group.addTask {
                while !Task.isCancelled {
                    try await publisher.perform(prepare)
                    try await Task.sleep(for: .milliseconds(5))
                }
            }
            try await group.next()
            group.cancelAll()
        }
    }

    private func all(_ order: PeerOrder) async throws -> [Report] {
        try await withThrowingTaskGroup(of: Report.self) { group in
            for subscriber in subscribers {
                group.addTask { try await subscriber.perform(order) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}
