package import SignIn

/// How many things of a kind, such as streams, the browsers of a page may have: all together, those of all sessions, which
/// leaves some to operators, and those of one session.
package struct PageCapacity: Sendable {
    package let all: Int
    package let sessions: Int
    package let session: Int

    package init(all: Int, forOperators reserve: Int, ofSession session: Int) {
        (self.all, sessions, self.session) = (all, all - reserve, session)
    }

    /// - Parameter counts: The number of things that there are, by the part of the page that their browsers may use.
    package func hasRoom(for access: PageAccess, beside counts: [PageAccess: Int]) -> Bool {
        let sum = counts.values.reduce(0, +)
        guard sum < all else { return false }
        return access == .operator
            || sum - counts[.operator, default: 0] < sessions && counts[access, default: 0] < session
    }

    /// - Parameters:
    ///   - things: What there are too many of.
    ///   - advice: What to do, such as `close a page`.
    package func error(_ things: String, _ advice: String) -> RequestError {
        .busy("there are \(all) \(things), \(sessions) of sessions, or \(session) of this session; \(advice)")
    }
}
