internal import BusProtocol
internal import DequeModule

/// The requests that wait, by user. Each turn takes some of every user, so that nobody waits for all requests of another
/// user. On a bus without keys there is one user.
struct RequestTurns {
    /// The requests of one turn.
    struct Turn {
        fileprivate(set) var requests: [Incoming] = []
        /// True if several users have requests waiting: pages are short then.
        fileprivate(set) var isShared = false
    }

    private struct Queue {
        var requests: Deque<Incoming> = []
        private var (size, readCount) = (0, 0)

        /// - Returns: False if there are too many.
        mutating func add(_ request: Incoming, _ limits: UserLimits) -> Bool {
            guard requests.isEmpty || size + request.size <= limits.waitingSize,
                !request.readsJournal || readCount < limits.waitingReads
            else { return false }
            requests.append(request)
            size += request.size
            if request.readsJournal { readCount += 1 }
            return true
        }

        mutating func popFirst() -> Incoming? {
            guard let request = requests.popFirst() else { return nil }
            size -= request.size
            if request.readsJournal { readCount -= 1 }
            return request
        }
    }

    private struct Limit {
        let count: Int
        let cost: Int
    }

    /// The number of requests, and their cost in bytes, at which a turn ends while several users wait.
    private static let shared = Limit(count: 16, cost: 256 << 10)

    private let limits: UserLimits
    /// The same for one user. On a bus with keys, another one may come meanwhile.
    private let whole: Limit
    private var queues: [String: Queue] = [:]
    /// The users with requests. The first one is the next.
    private var order: Deque<String> = []
    /// The number and the cost of all requests.
    private var (count, cost) = (0, 0)

    /// - Parameter hasKeys: True on a bus with keys.
    init(_ limits: UserLimits, hasKeys: Bool) {
        self.limits = limits
        whole = hasKeys ? Limit(count: 128, cost: 1 << 20) : Limit(count: 512, cost: 4 << 20)
    }

    var isEmpty: Bool { order.isEmpty }

    /// True if there is enough for the turn of one user.
    var isFull: Bool { count >= whole.count || cost >= whole.cost }

    /// Adds a request.
    /// - Returns: False if too many of its user wait already. It is dropped then, and its connection has to end, so that
    ///   the client sends all that is unanswered again, in order.
    mutating func add(_ request: Incoming) -> Bool {
        let user = request.user ?? ""
        guard queues[user, default: Queue()].add(request, limits) else { return false }
        (count, cost) = (count + 1, cost + request.cost)
        if queues[user]?.requests.count == 1 { order.append(user) }
        return true
    }

    /// Removes the requests of the next turn: one of each user, then one more of each, until the turn is full.
    mutating func next() -> Turn {
        var turn = Turn()
        turn.isShared = order.count > 1
        let limit = turn.isShared ? Self.shared : whole
        var used = 0
        while turn.requests.count < limit.count, used < limit.cost, let user = order.popFirst() {
            guard let request = take(from: user) else { continue }
            used += request.cost
            turn.requests.append(request)
        }
        return turn
    }

    private mutating func take(from user: String) -> Incoming? {
        guard let request = queues[user]?.popFirst() else { return nil }
        (count, cost) = (count - 1, cost - request.cost)
        if queues[user]?.requests.isEmpty == true { queues[user] = nil } else { order.append(user) }
        return request
    }
}
