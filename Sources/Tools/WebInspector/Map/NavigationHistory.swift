internal import Contracts
internal import EventBus
internal import Foundation
internal import Navigation
internal import Support

/// The screens that the sessions of each platform show, and the uses of the rules of its flows, from the documents
/// `NavigationState` of a journal.
///
/// A document that cannot be read, or whose key and data name different platforms, changes nothing.
struct NavigationHistory: Sendable {
    /// What a document has changed.
    struct Change: Sendable {
        let platform: String
        let session: String
        /// The flow of the session's state.
        let flow: String
        /// The rule that was used, with a change that a person sees. Nil if none was.
        let rule: String?
        /// Nil if a person sees no change.
        let move: MapMove?
    }

    /// The number of sessions that show a screen.
    struct Shown: Hashable, Sendable {
        var shown = 0
        /// The number of those in which the screen is in front.
        var front = 0
    }

    /// One use of a rule.
    struct Use: Hashable, Sendable {
        let story: String
        let session: String
        let time: Date
        /// The change of the screens, on one line.
        let words: String
        let position: Position
    }

    /// A flow as sessions follow it: a coordinator that starts with another one gives the rules' keys another meaning.
    struct FlowName: Hashable, Sendable {
        let platform: String
        let hash: String
    }

    /// The maximum numbers of sessions, also of ended ones, of flows and of the rules of a flow.
    static let (sessionLimit, flowLimit, ruleLimit) = (10_000, 64, 10_000)
    /// The maximum number of pairs of a session and a rule whose uses are counted.
    static let countLimit = 200_000
    /// The number of uses that are kept of a rule, and of a rule after ``usesLimit`` uses of all rules.
    static let (useLimit, reducedUseLimit, usesLimit) = (20, 5, 50_000)
    /// The maximum length of the words of a use, in Unicode scalars.
    static let wordsLength = 200
    /// The maximum length of a name in UTF-8.
    static let nameLength = 200
    /// The maximum size of a document, and the size up to which the states of all sessions are kept, in bytes.
    private static let (documentLimit, statesLimit) = (1 << 20, 32 << 20)

    private struct SessionName: Hashable {
        let platform: String
        let session: String

        init(platform: String, session: String) {
            self.platform = platform
            self.session = session
        }

        /// Nil if the document is not the state of a session, or if its names are too long.
        init?(_ document: Envelope) {
            guard document.type == Document.NavigationState.type, let platform = document.attributes.key,
                platform.utf8.count <= NavigationHistory.nameLength,
                document.subject.utf8.count <= NavigationHistory.nameLength
            else { return nil }
            self.init(platform: platform, session: document.subject)
        }
    }

    private struct Session {
        /// The position of the last document.
        var position: Position
        /// The last state. Nil if the session has ended, or if the states of all sessions would be too large.
        var snapshot: NavigationSnapshot?
        /// The size of the document of ``snapshot``.
        var size = 0
        /// The revision of the last state. Nil if the session has ended.
        var revision: Int?
        var screens = ShownScreens()
    }

    private struct Rule {
        var count = 0
        /// The newest uses, oldest first.
        var uses: [Use] = []
        var countBySession: [String: Int] = [:]
    }

    private var sessions: [SessionName: Session] = [:]
    private var statesSize = 0
    private var shown: [String: [String: Shown]] = [:]
    private var rules: [FlowName: [String: Rule]] = [:]
    /// The flows of ``rules``, in the order of their first uses.
    private var flows: [FlowName] = []
    private var usesCount = 0
    private var pairsCount = 0

    // MARK: What a view shows

    /// The screens that are shown on each platform.
    /// - Parameter session: The only session that counts. Nil for all.
    func screens(in session: String?) -> [String: [String: Shown]] {
        guard let session else { return shown }
        let own = sessions.filter { $0.key.session == session }
        return Dictionary(own.map { ($0.key.platform, $0.value.screens.counts) }) { first, _ in first }
    }

    /// The screens that are shown on a platform.
    func screens(on platform: String, in session: String?) -> [String: Shown] {
        guard let session else { return shown[platform] ?? [:] }
        return sessions[SessionName(platform: platform, session: session)]?.screens.counts ?? [:]
    }

    /// The numbers of uses, by rule.
    func counts(of flow: FlowName, in session: String?) -> [String: Int] {
        let rules = rules[flow] ?? [:]
        guard let session else { return rules.mapValues(\.count) }
        return rules.compactMapValues { $0.countBySession[session] }
    }

    /// The number of uses of a rule.
    func count(of rule: String, of flow: FlowName, in session: String?) -> Int {
        guard let rule = rules[flow]?[rule] else { return 0 }
        return session.map { rule.countBySession[$0] ?? 0 } ?? rule.count
    }

    /// The newest uses of a rule, newest first.
    func uses(of rule: String, of flow: FlowName, in session: String?) -> [Use] {
        let uses = rules[flow]?[rule]?.uses ?? []
        return uses.reversed().filter { session == nil || $0.session == session }
    }

    // MARK: Documents

    /// Records a document that is the state before later ones.
    mutating func learn(_ document: Envelope) { _ = handle(document, isChange: false) }

    /// Handles the next document of the journal. One that was handled before changes nothing.
    /// - Returns: Nil if it changes nothing.
    mutating func handle(_ document: Envelope) -> Change? { handle(document, isChange: true) }

    private mutating func handle(_ document: Envelope, isChange: Bool) -> Change? {
        guard let name = SessionName(document), let position = document.position else { return nil }
        let former = sessions[name]
        if let former, former.position.epoch == position.epoch, former.position.offset >= position.offset { return nil }
        guard !document.isTombstone else {
            // The entry stays, so that an older document that is delivered again does not begin the session again.
            guard former != nil else { return nil }
            replace(name, with: Session(position: position))
            return Change(
                platform: name.platform, session: name.session, flow: former?.snapshot?.flow.hash ?? "", rule: nil,
                move: nil)
        }
        guard document.data.count <= Self.documentLimit,
            let snapshot = try? document.decode(Document.NavigationState.self).snapshot,
            snapshot.platform == name.platform, snapshot.session == name.session,
            snapshot.flow.hash.utf8.count <= Self.nameLength
        else { return nil }
        if former == nil, !makeRoom() { return nil }
        let change = NavigationChange(to: snapshot, from: former?.snapshot)
        let isSeen = isChange && !change.isEmpty && snapshot.revision != former?.revision
        let fits = statesSize - (former?.size ?? 0) + document.data.count <= Self.statesLimit
        let session = Session(
            position: position, snapshot: fits ? snapshot : nil, size: fits ? document.data.count : 0,
            revision: snapshot.revision, screens: ShownScreens(snapshot.state))
        let front = former?.screens.front
        replace(name, with: session)
        let rule = isSeen ? snapshot.rule.flatMap { $0.utf8.count <= Self.nameLength ? $0 : nil } : nil
        if let rule {
            count(
                rule, of: FlowName(platform: name.platform, hash: snapshot.flow.hash),
                Use(
                    story: document.attributes.correlationID, session: name.session, time: document.attributes.time,
                    words: change.description.shown(to: Self.wordsLength), position: position))
        }
        let move = MapMove(
            platform: name.platform, session: name.session, from: front, to: session.screens.front, rule: rule,
            story: document.attributes.correlationID, message: document.id, time: document.attributes.time)
        return Change(
            platform: name.platform, session: name.session, flow: snapshot.flow.hash, rule: rule,
            move: isSeen ? move : nil)
    }

    /// Forgets ended sessions if there are too many.
    /// - Returns: False if there is no room for another session.
    private mutating func makeRoom() -> Bool {
        if sessions.count >= Self.sessionLimit { sessions = sessions.filter { $0.value.revision != nil } }
        return sessions.count < Self.sessionLimit
    }

    private mutating func replace(_ name: SessionName, with session: Session) {
        let former = sessions.updateValue(session, forKey: name)
        statesSize += session.size - (former?.size ?? 0)
        var counts = shown[name.platform] ?? [:]
        for (screen, count) in former?.screens.counts ?? [:] {
            counts[screen]?.shown -= 1
            counts[screen]?.front -= count.front
            if counts[screen]?.shown == 0 { counts[screen] = nil }
        }
        for (screen, count) in session.screens.counts {
            counts[screen, default: Shown()].shown += 1
            counts[screen]?.front += count.front
        }
        shown[name.platform] = counts
    }

    // MARK: Uses

    private mutating func count(_ rule: String, of flow: FlowName, _ use: Use) {
        add(Rule(count: 1, uses: [use], countBySession: [use.session: 1]), as: rule, of: flow)
    }

    /// Adds what happened before everything that this history has handled.
    mutating func prepend(_ older: NavigationHistory) {
        let newer = self
        (rules, flows, usesCount, pairsCount) = (older.rules, older.flows, older.usesCount, older.pairsCount)
        for flow in newer.flows {
            for (key, rule) in newer.rules[flow] ?? [:] { add(rule, as: key, of: flow) }
        }
    }

    /// Adds newer uses of a rule.
    private mutating func add(_ newer: Rule, as key: String, of flow: FlowName) {
        makeRoom(for: flow)
        guard rules[flow]?[key] != nil || (rules[flow]?.count ?? 0) < Self.ruleLimit else { return }
        // Removed from the dictionary while it changes, so that its arrays are not copied.
        var rule = rules[flow]?.removeValue(forKey: key) ?? Rule()
        rule.count += newer.count
        let before = rule.uses.count
        rule.uses += newer.uses
        let limit = usesCount < Self.usesLimit ? Self.useLimit : Self.reducedUseLimit
        if rule.uses.count > limit { rule.uses.removeFirst(rule.uses.count - limit) }
        usesCount += rule.uses.count - before
        for (session, count) in newer.countBySession {
            if rule.countBySession[session] == nil {
                guard pairsCount < Self.countLimit else { continue }
                pairsCount += 1
            }
            rule.countBySession[session, default: 0] += count
        }
        rules[flow, default: [:]][key] = rule
    }

    /// Forgets the oldest flow if there are too many.
    private mutating func makeRoom(for flow: FlowName) {
        guard rules[flow] == nil else { return }
        rules[flow] = [:]
        flows.append(flow)
        guard flows.count > Self.flowLimit else { return }
        for rule in (rules.removeValue(forKey: flows.removeFirst()) ?? [:]).values {
            usesCount -= rule.uses.count
            pairsCount -= rule.countBySession.count
        }
    }
}

/// The names of the screens that a session shows.
private struct ShownScreens: Sendable {
    /// The maximum number of screens, and of the length of a name in UTF-8. Others are not counted.
    private static let (limit, lengthLimit) = (100, 200)

    private(set) var front: String?
    private var names: Set<String> = []

    init() {}

    init(_ state: NavigationState) {
        front = Self.checked(state.front.screen)
        names = Set(([front] + state.shown.prefix(Self.limit).map { Self.checked($0.screen) }).compactMap(\.self))
    }

    var counts: [String: NavigationHistory.Shown] {
        Dictionary(uniqueKeysWithValues: names.map { ($0, .init(shown: 1, front: $0 == front ? 1 : 0)) })
    }

    private static func checked(_ name: String) -> String? { name.utf8.count <= lengthLimit ? name : nil }
}
