/// A number for each user, such as that of its connections. A user with none takes no room.
struct UserCounts {
    private var counts: [String: Int] = [:]

    /// - Parameter users: Each counts as often as it occurs.
    init(_ users: some Sequence<String> = []) {
        for user in users { add(1, to: user) }
    }

    /// - Parameter counts: Numbers above 0.
    init(_ counts: [String: Int]) {
        self.counts = counts
    }

    subscript(user: String) -> Int { counts[user, default: 0] }

    /// - Parameter count: Negative for what has ended.
    mutating func add(_ count: Int, to user: String) {
        let sum = self[user] + count
        counts[user] = sum > 0 ? sum : nil
    }

    /// The users with a number above a limit.
    func above(_ limit: Int) -> [(user: String, count: Int)] {
        counts.filter { $0.value > limit }.map { ($0.key, $0.value) }
    }
}
