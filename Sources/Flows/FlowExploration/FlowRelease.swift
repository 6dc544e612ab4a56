package import Navigation
internal import Support

/// Replays what people did with one version of a flow to the next version, and finds what the next version would break.
///
/// Both versions receive the same recorded messages. A user acts at what the screen shows, so the versions are compared
/// before each message that no other message has caused, and at the end of the session. A difference counts only if it
/// is still there then. The next version then goes on from where the recorded one is, so that one difference is not
/// counted again with each later message.
package struct FlowRelease {
    private let old: Flow
    private let new: Flow
    private let oldTypes: Set<String>
    private let newTypes: Set<String>
    private var sessions: [String: ReleasedSession] = [:]
    /// The latest messages of the sessions whose beginning was not recorded.
    private var unknown: [String: [Machine.Input]] = [:]
    package private(set) var report: ReleaseReport

    /// The number of messages that are kept for a session until its first state shows which of them it has handled.
    private static let waitingLimit = 64

    /// - Parameters:
    ///   - old: The version that was used.
    ///   - new: The next version, for the same platform.
    package init(from old: Flow, to new: Flow) {
        self.old = old
        self.new = new.tellingRules
        oldTypes = old.messageTypes.union(PlatformOccurrences.beginnings)
        newTypes = new.messageTypes.union(PlatformOccurrences.beginnings)
        report = ReleaseReport(of: self.new)
    }

    /// True if one of the versions handles messages of a type.
    package func handles(_ type: String) -> Bool { oldTypes.contains(type) || newTypes.contains(type) }

    /// True if the replay of a session has begun.
    package func knows(_ session: String) -> Bool { sessions[session] != nil }

    /// Handles the next message of its session.
    package mutating func add(_ input: Machine.Input) {
        if sessions[input.subject] == nil {
            guard PlatformOccurrences.beginnings.contains(input.type) else {
                unknown[input.subject, default: []].append(input)
                if unknown[input.subject]?.count ?? 0 > Self.waitingLimit { unknown[input.subject]?.removeFirst() }
                return
            }
            begin(ReleasedSession(input.subject, old, new))
        }
        replay(input)
    }

    /// Begins a session in the middle, with a recorded state. Ignored if the session has begun.
    package mutating func begin(with state: NavigationSnapshot) {
        guard sessions[state.session] == nil else { return }
        let waiting = unknown[state.session] ?? []
        begin(ReleasedSession(state, old, new))
        // The coordinator had not handled those after the cause of the state.
        guard let last = waiting.lastIndex(where: { $0.id == state.cause }) else { return }
        for input in waiting[(last + 1)...] { replay(input) }
    }

    private mutating func begin(_ session: ReleasedSession) {
        unknown[session.name] = nil
        sessions[session.name] = session
        report.sessionCount += 1
    }

    private mutating func replay(_ input: Machine.Input) {
        sessions[input.subject]?.handle(
            input, byOld: oldTypes.contains(input.type), byNew: newTypes.contains(input.type), &report)
    }

    /// Ends a session.
    package mutating func end(_ session: String) {
        unknown[session] = nil
        var ended = sessions.removeValue(forKey: session)
        ended?.compare(&report)
    }

    /// Compares what the open sessions show at the end.
    package mutating func endAll() {
        // In an order of their own, so that each run names the same examples.
        for session in sessions.keys.sorted() { end(session) }
        unknown = [:]
    }

    /// Finds out what the next version keeps of an open session.
    /// - Parameter state: The last state of the session.
    package mutating func restore(_ state: NavigationSnapshot) {
        report.livingCount += 1
        if state.flow.hash != old.hash { report.otherVersionCount += 1 }
        let losses = Self.losses(Restoration(state, flow: new))
        if losses.isEmpty { return }
        // What the version that was used would lose, too, is not the fault of the next one.
        let known = Self.losses(Restoration(state, flow: old))
        let others = losses.filter { !known.contains($0) }
        report.add(losses: others, of: state.session)
    }

    /// What a restored session has lost, in words.
    private static func losses(_ restoration: Restoration) -> [String] {
        let screens = Set(restoration.dropped.map(\.screen)).sorted().map { "screen '\($0)'" }
        let messages = restoration.effects.compactMap { effect -> String? in
            guard case .messageDiscarded(_, let reason) = effect else { return nil }
            return reason
        }
        return screens + messages
    }
}
