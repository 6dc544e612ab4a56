internal import BusProtocol
internal import DequeModule
internal import EventBus

/// The requests that wait, by user. Each turn takes some of every user, so that nobody waits for all requests of another
/// user. On a bus without keys there is one user.
struct RequestTurns {
    /// The requests of one turn.
    struct Turn {
        fileprivate(set) var requests: [Incoming] = []
        /// True if several users have requests waiting: pages are short then.
        fileprivate(set) var isShared = false
    }

    enum Admission {
        case added
        /// Too many requests for content wait. The client sends this one again after a later hello.
        case dropped
        /// Too much waits. All that waits from the peer is dropped; its connection has to end, so that the client sends
        /// what is unanswered again, in order.
        case overflown
    }

    /// A request that waits, and what it counts.
    struct Waiting {
        let request: Incoming
        /// The number of bytes, with those of the arrays.
        let size: Int
        let readsJournal: Bool

        init(_ request: Incoming) {
            self.request = request
            size = request.frames.reduce(256) { $0 + 64 + $1.count }
            readsJournal = request.readsJournal
        }

        /// The work that it is for the broker, in bytes. A page counts as a whole one.
        var cost: Int { size + (readsJournal ? Limits.pageSize : 0) }
    }

    private struct Queue {
        var requests: Deque<Waiting> = []
        /// The cost by which the user has exceeded its share of the last turns.
        var debt = 0
        private var (size, readCount) = (0, 0)

        mutating func add(_ request: Waiting, _ limits: UserLimits) -> Admission {
            let hasRoom = requests.isEmpty || size + request.size <= limits.waitingSize
            if request.readsJournal {
                guard hasRoom, readCount < limits.waitingReads else { return .dropped }
                readCount += 1
            } else if !hasRoom {
                return .overflown
            }
            requests.append(request)
            size += request.size
            return .added
        }

        mutating func popFirst() -> Waiting? {
            guard let request = requests.popFirst() else { return nil }
            size -= request.size
            if request.readsJournal { readCount -= 1 }
            return request
        }

        mutating func removeAll(of peer: [UInt8]) -> [Waiting] {
            let removed = Array(requests.filter { $0.request.peer == peer })
            requests.removeAll { $0.request.peer == peer }
            for request in removed {
                size -= request.size
                if request.readsJournal { readCount -= 1 }
            }
            return removed
        }
    }

    private struct Limit {
        let count: Int
        let cost: Int
    }

    /// The number of requests, and their cost in bytes, at which a turn ends while several users wait.
    private static let shared = Limit(count: 16, cost: 256 << 10)
    /// The cost of one user in a shared turn, before the next one comes.
    private static let share = 32 << 10

    private let limits: UserLimits
    /// The limit of a turn of one user. On a bus with keys, another one may come meanwhile.
    private let whole: Limit
    private var queues: [String: Queue] = [:]
    /// The users with requests. The first one is the next.
    private var order: Deque<String> = []
    /// The number and the cost of all requests.
    private var (count, cost) = (0, 0)
    /// The peers whose connections have to end. What they have sent before is dropped.
    private var overflown: Set<[UInt8]> = []

    /// - Parameter hasKeys: True on a bus with keys.
    init(_ limits: UserLimits, hasKeys: Bool) {
        self.limits = limits
        whole = hasKeys ? Limit(count: 128, cost: 1 << 20) : Limit(count: 512, cost: 4 << 20)
    }

    var isEmpty: Bool { order.isEmpty }

    /// True if there is enough for the turn of one user.
    var isFull: Bool { count >= whole.count || cost >= whole.cost }

    /// Adds a request.
    mutating func add(_ request: Incoming) -> Admission {
        guard overflown.isEmpty || !overflown.contains(request.peer) else { return .dropped }
        let user = request.user ?? ""
        let waiting = Waiting(request)
        let admission = queues[user, default: Queue()].add(waiting, limits)
        switch admission {
        case .added:
            (count, cost) = (count + 1, cost + waiting.cost)
            if queues[user]?.requests.count == 1 { order.append(user) }
        case .dropped: break
        case .overflown:
            overflown.insert(request.peer)
            for removed in queues[user]?.removeAll(of: request.peer) ?? [] {
                (count, cost) = (count - 1, cost - removed.cost)
            }
            if queues[user]?.requests.isEmpty == true {
                queues[user] = nil
                order.removeAll { $0 == user }
            }
        }
        return admission
    }

    /// Accepts requests of all peers again. Called when the connections that had to end have ended.
    mutating func forgetOverflown() { overflown = [] }

    /// Removes the requests of the next turn. While several users wait, each gets the same share of the work: a user with
    /// an expensive request is passed over until the others have had as much.
    mutating func next() -> Turn {
        var turn = Turn()
        turn.isShared = order.count > 1
        let limit = turn.isShared ? Self.shared : whole
        var used = 0
        var passedCount = 0
        while turn.requests.count < limit.count, used < limit.cost, let user = order.popFirst() {
            let debt = turn.isShared ? queues[user]?.debt ?? 0 : 0
            if debt >= Self.share {
                queues[user]?.debt = debt - Self.share
                order.append(user)
                passedCount += 1
                if passedCount >= order.count { forgiveDebt() }
                continue
            }
            passedCount = 0
            let share = turn.isShared ? Self.share - debt : limit.cost
            var taken = 0
            while taken < share, turn.requests.count < limit.count, let waiting = queues[user]?.popFirst() {
                taken += waiting.cost
                turn.requests.append(waiting.request)
                (count, cost) = (count - 1, cost - waiting.cost)
            }
            used += taken
            if turn.isShared { queues[user]?.debt = max(0, taken - share) }
            if queues[user]?.requests.isEmpty ?? true { queues[user] = nil } else { order.append(user) }
        }
        return turn
    }

    /// Reduces the debts of all users to those that they have against each other. Called when all are in debt.
    private mutating func forgiveDebt() {
        let least = order.compactMap { queues[$0]?.debt }.min() ?? 0
        let debt = least - least % Self.share
        for user in order { queues[user]?.debt -= debt }
    }
}
