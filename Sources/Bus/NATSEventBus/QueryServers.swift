internal import EventBus

/// The processes that serve queries of each type, as far as an asker knows them. They take turns.
struct QueryServers {
    /// The maximum number of processes of one type, and of types. Further ones are not used.
    static let capacity = 256

    private struct Server {
        let instance: String
        /// The number of the last turn; 0 before the first one.
        var turn: UInt64 = 0
        var lastSeen: ContinuousClock.Instant
    }

    private struct Known {
        var servers: [Server] = []
        /// The time of the last request for the servers.
        var asked: ContinuousClock.Instant
    }

    /// The time that the servers have to answer.
    static let answerTime = Duration.milliseconds(50)
    private static let refreshInterval = Duration.seconds(2)
    /// The time after a request during which a server that has not answered keeps its turns: it may be busy.
    private static let patience = Duration.seconds(1)

    private var known: [MessageType: Known] = [:]
    private var lastTurn: UInt64 = 0

    /// Records that the servers of a type are asked now.
    mutating func recordRequest(for type: MessageType, at now: ContinuousClock.Instant) {
        if known[type] == nil, known.count >= Self.capacity {
            // The type that was requested least recently.
            known.min { $0.value.asked < $1.value.asked }.map { known[$0.key] = nil }
        }
        known[type, default: Known(asked: now)].asked = now
    }

    /// True if the servers are to be asked again.
    func needsRequest(for type: MessageType, at now: ContinuousClock.Instant) -> Bool {
        known[type].map { now - $0.asked > Self.refreshInterval } ?? true
    }

    /// Records that a process serves a type. Has no effect if the type was not requested.
    mutating func record(_ instance: String, serves type: MessageType, at now: ContinuousClock.Instant) {
        guard let servers = known[type]?.servers else { return }
        if let index = servers.firstIndex(where: { $0.instance == instance }) {
            known[type]?.servers[index].lastSeen = now
        } else if servers.count < Self.capacity {
            known[type]?.servers.append(Server(instance: instance, lastSeen: now))
        }
    }

    mutating func remove(_ instance: String, from type: MessageType) {
        known[type]?.servers.removeAll { $0.instance == instance }
    }

    /// The process whose turn it is. Nil if none is known.
    mutating func next(for type: MessageType, at now: ContinuousClock.Instant) -> String? {
        guard let asked = known[type]?.asked else { return nil }
        if now - asked > Self.patience { known[type]?.servers.removeAll { $0.lastSeen < asked } }
        guard let servers = known[type]?.servers,
            let index = servers.indices.min(by: { servers[$0].turn < servers[$1].turn })
        else { return nil }
        lastTurn += 1
        known[type]?.servers[index].turn = lastTurn
        return servers[index].instance
    }
}
