internal import Navigation
internal import Support

/// What the next version of a flow would break.
package struct ReleaseReport: Sendable {
    /// A kind of change: what happens on a screen, and where it leads.
    package struct Change: Hashable, Sendable {
        package let screen: String
        /// What happens, such as `command.Pay` or `back`.
        package let cause: String
        /// What a user sees then, and what is told to others, without values.
        package let before: String
        package let after: String
    }

    /// One of the sessions in which a change was seen.
    package struct Example: Hashable, Sendable {
        package let session: String
        /// The id of the message. Nil if it was seen when the session was restored.
        package let message: String?
        /// What a user sees, with values.
        package let before: String
        package let after: String
    }

    package struct Count: Sendable {
        package fileprivate(set) var count: Int
        package fileprivate(set) var example: Example
    }

    /// The stories that end elsewhere.
    package private(set) var changes: [Change: Count] = [:]
    /// What open sessions lose when they are restored.
    package private(set) var losses: [String: Count] = [:]
    /// True if there are more kinds of changes than are kept.
    package private(set) var isCut = false
    /// The rules of the next version that were taken.
    package internal(set) var cover: RuleCover
    package internal(set) var sessionCount = 0
    /// The number of messages that no other message has caused.
    package internal(set) var storyCount = 0
    package internal(set) var messageCount = 0
    /// The number of open sessions.
    package internal(set) var livingCount = 0
    /// The number of open sessions that were recorded with another version than the one that is compared.
    package internal(set) var otherVersionCount = 0

    /// The maximum number of kinds of changes, and of losses.
    private static let limit = 1000

    init(of flow: Flow) {
        cover = RuleCover(of: flow)
    }

    /// True if the next version breaks nothing.
    package var isClean: Bool { changes.isEmpty && losses.isEmpty }

    mutating func add(_ change: Change, _ example: Example) {
        Self.add(example, for: change, to: &changes, &isCut)
    }

    mutating func add(losses names: [String], of session: String) {
        for name in names {
            let example = Example(session: session, message: nil, before: name, after: "")
            Self.add(example, for: name, to: &losses, &isCut)
        }
    }

    private static func add<Key>(
        _ example: Example, for key: Key, to counts: inout [Key: Count], _ isCut: inout Bool
    ) {
        guard var known = counts[key] else {
            if counts.count < limit { counts[key] = Count(count: 1, example: example) } else { isCut = true }
            return
        }
        known.count += 1
        // Open sessions come in no order, and each run names the same one.
        if example.session < known.example.session { known.example = example }
        counts[key] = known
    }

    /// What a user sees, followed by what is told to others.
    static func words(_ screens: String, _ told: [String]) -> String {
        ([screens] + told).joined(separator: "; ")
    }
}

extension ReleaseReport {
    /// A change or a loss, for people.
    package struct Line: Encodable, Sendable {
        /// The screen and what happens there. Nil for what is lost when sessions are restored.
        package let screen: String?
        package let cause: String?
        package let before: String
        package let after: String
        /// The number of stories, or of sessions that are restored.
        package let count: Int
        /// One of the sessions, and the id of its message.
        package let session: String
        package let message: String?
    }

    /// The changes that concern the most people come first.
    package var lines: [Line] {
        let changed = changes.map { change, count in
            let isSame = change.before == change.after
            return Line(
                screen: change.screen, cause: change.cause,
                before: isSame ? count.example.before : change.before,
                after: isSame ? count.example.after : change.after, count: count.count,
                session: count.example.session, message: count.example.message)
        }
        let lost = losses.map { name, count in
            Line(
                screen: nil, cause: nil, before: name, after: "", count: count.count, session: count.example.session,
                message: nil)
        }
        return (lost + changed).sorted {
            ($1.count, $0.screen ?? "", $0.cause ?? "", $0.before, $0.after)
                < ($0.count, $1.screen ?? "", $1.cause ?? "", $1.before, $1.after)
        }
    }
}

extension ReleaseReport.Line: CustomStringConvertible {
    package var description: String {
        guard let screen, let cause else {
            return "restoring \(count == 1 ? "1 session" : "\(count) sessions") loses: \(before) (such as '\(session)')"
        }
        let stories = count == 1 ? "1 story" : "\(count) stories"
        let example = message.map { ", message \($0)" } ?? ""
        return "on '\(screen)', \(cause): \(stories) ended at \(before), and now at \(after) "
            + "(such as in session '\(session)'\(example))"
    }
}
