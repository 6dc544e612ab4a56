internal import Contracts
internal import EventBus
internal import Foundation
internal import Navigation
internal import Support

/// The screens that the sessions of each platform show, and the uses of the rules of its flows, from the documents
/// `NavigationState` of a journal.
///
/// A document that cannot be read, or whose key and data name different platforms, changes nothing. A session's first
/// document is the state before later ones: an older one may have been removed from the journal.
struct NavigationHistory: Sendable {
    /// What a document has changed.
    struct Change: Sendable {
        let platform: String
        let session: String
        /// The flow of the session's state.
        let flow: String
        /// The rule that has changed the screens. Nil if they are the same, or if no rule has changed them.
        let rule: String?
        /// Nil if the screens are the same.
        let move: MapMove?
    }

    /// The number of sessions that show a screen.
    struct Shown: Hashable, Sendable {
        var shown = 0
        /// The number of those in which the screen is in front.
        var front = 0
    }

    /// One use of a rule: it has changed the screens.
    struct Use: Hashable, Sendable {
        let story: String
        let session: String
        let time: Date
        /// The screens in front before and after.
        let words: String
        let position: Position
    }

    /// A flow as sessions follow it: a coordinator that starts with another one gives the rules' keys another meaning.
    struct FlowName: Hashable, Sendable {
        let platform: String
        let hash: String
    }

    /// The maximum numbers of sessions, also of ended ones, of flows and of the rules of a flow.
    static let (sessionLimit, flowLimit, ruleLimit) = (10_000, 64, 2_000)
    /// The maximum number of pairs of a session and a rule whose uses are counted.
    static let countLimit = 200_000
    /// The maximum numbers of uses that are kept of a rule, and of all rules.
    static let (useLimit, usesLimit) = (20, 50_000)
    /// The maximum numbers of the screens that a session shows, and of the different ones of a platform.
    static let (screenLimit, platformScreenLimit) = (32, 1_000)
    /// The maximum lengths of a name, and of the id of a message, in UTF-8.
    static let (nameLength, idLength) = (200, 255)
    /// The maximum size of a document in bytes.
    private static let documentLimit = 1 << 20

    private struct SessionName: Hashable {
        let platform: String
        let session: String

        init(platform: String, session: String) {
            self.platform = platform
            self.session = session
        }

        /// Nil if the document is not the state of a session, or if its names or ids are too long.
        init?(_ document: Envelope) {
            let lengths = (NavigationHistory.nameLength, NavigationHistory.idLength)
            guard document.type == Document.NavigationState.type, let platform = document.attributes.key,
                platform.utf8.count <= lengths.0, document.subject.utf8.count <= lengths.0,
                document.id.utf8.count <= lengths.1, document.attributes.correlationID.utf8.count <= lengths.1
            else { return nil }
            self.init(platform: platform, session: document.subject)
        }
    }

    private struct Session {
        /// The position of the last document.
        var position: Position
        /// The revision of the last state. Nil if the session has ended.
        var revision: Int?
        /// The hash of all open screens. Two states with the same one look the same.
        var content = 0
        var front: String?
        /// The names that ``shown`` counts.
        var screens: Set<String> = []
    }

    private struct Rule {
        var count = 0
        /// The newest uses, oldest first.
        var uses: [Use] = []
        var countBySession: [String: Int] = [:]
    }

    /// The flows whose uses are never forgotten.
    var present: Set<FlowName> = []
    private var sessions: [SessionName: Session] = [:]
    private var endedCount = 0
    private var shown: [String: [String: Shown]] = [:]
    private var rules: [FlowName: [String: Rule]] = [:]
    /// The flows of ``rules``, the one that was used last at the end.
    private var flows: [FlowName] = []
    private var usesCount = 0
    private var pairsCount = 0

    // MARK: What a view shows

    /// The screens that are shown on a platform.
    /// - Parameter session: The only session that counts. Nil for all.
    func screens(on platform: String, in session: String?) -> [String: Shown] {
        guard let session else { return shown[platform] ?? [:] }
        guard let own = sessions[SessionName(platform: platform, session: session)] else { return [:] }
        return Dictionary(
            uniqueKeysWithValues: own.screens.map { ($0, Shown(shown: 1, front: $0 == own.front ? 1 : 0)) })
    }

    /// The numbers of uses, by rule.
    func counts(of flow: FlowName, in session: String?) -> [String: Int] {
        (rules[flow] ?? [:]).compactMapValues { rule in
            session.map { rule.countBySession[$0] } ?? rule.count
        }
    }

    /// The number of uses of a rule.
    func count(of rule: String, of flow: FlowName, in session: String?) -> Int {
        guard let rule = rules[flow]?[rule] else { return 0 }
        return session.map { rule.countBySession[$0] ?? 0 } ?? rule.count
    }

    /// The newest uses of a rule, newest first. Of one session, those among the last ``useLimit`` uses of all sessions.
    func uses(of rule: String, of flow: FlowName, in session: String?) -> [Use] {
        let uses = rules[flow]?[rule]?.uses ?? []
        return uses.reversed().filter { session == nil || $0.session == session }
    }

    // MARK: Documents

    /// Handles the next document of the journal. One that was handled before changes nothing.
    /// - Returns: Nil if it changes nothing.
    @discardableResult
    mutating func handle(_ document: Envelope) -> Change? {
        guard let name = SessionName(document), let position = document.position else { return nil }
        let former = sessions[name]
        if let former, former.position.epoch == position.epoch, former.position.offset >= position.offset { return nil }
        guard !document.isTombstone else { return end(name, former, at: position) }
        guard document.data.count <= Self.documentLimit, former != nil || hasRoom(),
            let snapshot = try? document.decode(Document.NavigationState.self).snapshot,
            snapshot.platform == name.platform, snapshot.session == name.session,
            snapshot.flow.hash.utf8.count <= Self.nameLength
        else { return nil }
        let content = snapshot.state.screensHash
        let front = Self.checked(snapshot.state.front.screen)
        let shownScreens = snapshot.state.shown.prefix(Self.screenLimit).compactMap { Self.checked($0.screen) }
        replace(
            name,
            with: Session(position: position, revision: snapshot.revision, content: content, front: front),
            showing: Set(shownScreens + [front].compactMap(\.self)))
        let isSame = former?.revision == nil || former?.content == content || former?.revision == snapshot.revision
        let (story, time) = (document.attributes.correlationID, document.attributes.time)
        let rule = isSame ? nil : snapshot.rule.flatMap(Self.checked)
        if let rule {
            let words = [former?.front, front].map { $0 ?? "?" }.joined(separator: " → ")
            let use = Use(story: story, session: name.session, time: time, words: words, position: position)
            add(
                Rule(count: 1, uses: [use], countBySession: [use.session: 1]), as: rule,
                of: FlowName(platform: name.platform, hash: snapshot.flow.hash))
        }
        let move = MapMove(
            platform: name.platform, session: name.session, from: former?.front, to: front, rule: rule, story: story,
            message: document.id, time: time)
        return Change(
            platform: name.platform, session: name.session, flow: snapshot.flow.hash, rule: rule,
            move: isSame ? nil : move)
    }

    /// The entry of an ended session stays, so that an older document that is delivered again does not begin it again.
    private mutating func end(_ name: SessionName, _ former: Session?, at position: Position) -> Change? {
        guard former != nil else { return nil }
        replace(name, with: Session(position: position), showing: [])
        return Change(platform: name.platform, session: name.session, flow: "", rule: nil, move: nil)
    }

    private static func checked(_ name: String) -> String? { name.utf8.count <= nameLength ? name : nil }

    // MARK: Sessions

    private mutating func replace(_ name: SessionName, with new: Session, showing screens: Set<String>) {
        let former = sessions[name]
        for screen in former?.screens ?? [] {
            shown[name.platform]?[screen]?.shown -= 1
            if screen == former?.front { shown[name.platform]?[screen]?.front -= 1 }
            if shown[name.platform]?[screen]?.shown == 0 { shown[name.platform]?[screen] = nil }
        }
        var session = new
        for screen in screens {
            let count = shown[name.platform]?.count ?? 0
            guard count < Self.platformScreenLimit || shown[name.platform]?[screen] != nil else { continue }
            session.screens.insert(screen)
            shown[name.platform, default: [:]][screen, default: Shown()].shown += 1
            if screen == new.front { shown[name.platform]?[screen]?.front += 1 }
        }
        if shown[name.platform]?.isEmpty ?? false { shown[name.platform] = nil }
        let hadEnded = former.map { $0.revision == nil } ?? false
        endedCount += (new.revision == nil ? 1 : 0) - (hadEnded ? 1 : 0)
        sessions[name] = session
    }

    /// True if there is room for another session. Ended sessions are forgotten in numbers that make this worth its time.
    private mutating func hasRoom() -> Bool {
        if sessions.count >= Self.sessionLimit { forgetEndedSessions() }
        return sessions.count < Self.sessionLimit
    }

    private mutating func forgetEndedSessions() {
        guard endedCount >= Self.sessionLimit / 10 else { return }
        sessions = sessions.filter { $0.value.revision != nil }
        endedCount = 0
        let names = Set(sessions.keys.map(\.session))
        pairsCount = 0
        for (flow, keys) in rules {
            for (key, rule) in keys {
                let kept = rule.countBySession.filter { names.contains($0.key) }
                rules[flow]?[key]?.countBySession = kept
                pairsCount += kept.count
            }
        }
    }

    // MARK: Uses

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
        usesCount -= rule.uses.count
        rule.uses += newer.uses
        let limit = min(Self.useLimit, Self.usesLimit - usesCount)
        if rule.uses.count > limit { rule.uses.removeFirst(rule.uses.count - limit) }
        usesCount += rule.uses.count
        for (session, count) in newer.countBySession {
            if rule.countBySession[session] == nil {
                guard pairsCount < Self.countLimit else { continue }
                pairsCount += 1
            }
            rule.countBySession[session, default: 0] += count
        }
        rules[flow, default: [:]][key] = rule
    }

    /// Forgets the flow that was not used for the longest time if there are too many.
    private mutating func makeRoom(for flow: FlowName) {
        if flows.last == flow { return }
        flows.removeAll { $0 == flow }
        flows.append(flow)
        guard rules[flow] == nil else { return }
        rules[flow] = [:]
        guard flows.count > Self.flowLimit, let oldest = flows.firstIndex(where: { !present.contains($0) }) else {
            return
        }
        for rule in (rules.removeValue(forKey: flows.remove(at: oldest)) ?? [:]).values {
            usesCount -= rule.uses.count
            pairsCount -= rule.countBySession.count
        }
    }
}

extension NavigationState {
    /// A hash of all open screens and child flows. It leaves out the screens that are being animated out, and an attempt
    /// or a link that waits: they change nothing that a map shows.
    fileprivate var screensHash: Int {
        var hasher = Hasher()
        hasher.combine(root)
        hasher.combine(path)
        hasher.combine(presentations)
        hasher.combine(runs)
        return hasher.finalize()
    }
}
