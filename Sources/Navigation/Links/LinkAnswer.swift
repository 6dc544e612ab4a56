public import Support

/// The treatment of a deep link in a state.
enum LinkAnswer {
    /// No link of the flow matches the URL.
    case unknown
    /// The link is discarded, for the given reason.
    case refused(reason: String)
    /// The link cannot be followed yet, for the given reason. It may wait for at most `park` milliseconds.
    case waits(reason: String, park: Int)
    /// The link is followed now.
    case followed(FollowedLink)
}

extension Flow {
    /// Returns the treatment of a URL in a state.
    ///
    /// The first matching link applies whose conditions hold or whose target is open already. If there is none, the URL
    /// waits for the time that the first matching link specifies.
    func answer(to url: String, in state: NavigationState) -> LinkAnswer {
        guard let parts = URLParts(url) else { return .unknown }
        let matches = links.compactMap { link in
            link.pattern?.values(in: parts).map { FollowedLink(link: link, values: $0) }
        }
        guard let first = matches.first else { return .unknown }
        let match = matches.first { $0.isThere(state) || $0.link.admits(state) }
        guard let match else { return .waits(reason: "its conditions do not hold", park: first.link.park.milliseconds) }
        // If the link's target is open already, nothing delays the link.
        if match.isThere(state) { return .followed(match) }
        let park = match.link.park.milliseconds
        if let gate = state.open.first(where: { screens[$0.screen]?.gate == true }) {
            return .waits(reason: "screen '\(gate.screen)' must be completed first", park: park)
        }
        switch match.precedence(in: state) {
        case .dismiss: return .followed(match)
        case .wait: return .waits(reason: "a presentation must be dismissed first", park: park)
        case .refuse: return .refused(reason: "a presentation that the link must not dismiss is open")
        }
    }

    /// True if a link of the flow matches this URL.
    func hasLink(for url: String) -> Bool {
        guard let parts = URLParts(url) else { return false }
        return links.contains { $0.pattern?.values(in: parts) != nil }
    }

    /// The reason for discarding a URL that no link matches, with the most similar pattern or with all patterns.
    func advice(forLink url: String) -> String {
        // Spellings are compared with the beginning of a long URL only.
        let url = String(url.prefix(200))
        let parts = URLParts(url)
        // Each pattern is filled in with the URL's own values before it is compared.
        let spellings = links.map { link in
            (pattern: link.url, text: parts.flatMap { link.pattern?.filled(from: $0) } ?? link.url)
        }
        let nearest = Spelling.nearest(to: url, in: spellings.map(\.text))
        let meant = spellings.first { $0.text == nearest }.map { "did you mean '\($0.pattern)'?" }
        return "no link matches the URL '\(url)'; \(meant ?? "known: \(links.map(\.url).joined(separator: ", "))")"
    }

    /// Returns the URL that leads to a state of this flow.
    ///
    /// - Returns: The URL in normal form. Nil if no link leads there.
    public func url(for state: NavigationState) -> String? {
        for (index, link) in links.enumerated() {
            guard let url = link.url(for: state), let parts = URLParts(url) else { continue }
            // An earlier link that matches this URL, and whose conditions hold, is followed instead.
            let isTaken = links[..<index].contains { $0.admits(state) && $0.pattern?.values(in: parts) != nil }
            if !isTaken { return url }
        }
        return nil
    }
}

extension FollowedLink {
    /// True if the link's target is open in the state, with the link's values.
    func isThere(_ state: NavigationState) -> Bool { link.values(of: state) == values }
}

/// A deep link with the values of one URL, which is about to be followed. It determines which screens are kept.
///
/// An instance that differs in a value of the URL's path is replaced by a new instance. An instance that differs only
/// in values of the query is kept and gets other arguments.
struct FollowedLink {
    let link: Flow.Link
    let values: [String: String]

    var target: Flow.Link.Target { link.to }

    /// True if this instance is kept in the place of `destination`.
    func keeps(_ instance: ScreenInstance, as destination: Flow.Destination) -> Bool {
        guard let own = destination.values(of: instance) else { return false }
        let identifying = destination.placeholders.subtracting(link.pattern?.optional ?? [])
        return identifying.allSatisfy { own[$0] == values[$0] }
    }

    /// The kept instance, with the arguments for the URL's values.
    func updated(_ instance: ScreenInstance, as destination: Flow.Destination) -> ScreenInstance {
        guard destination.values(of: instance) != values.filter({ destination.placeholders.contains($0.key) }) else {
            return instance
        }
        var updated = instance
        updated.arguments = destination.arguments(from: values)
        return updated
    }

    func keepsRoot(of state: NavigationState) -> Bool {
        guard let root = target.root else { return true }
        guard root.fits(state.root.container), keeps(state.root.instance, as: root.destination) else { return false }
        guard let tab = target.tab, let first = target.first else { return true }
        return state.base(of: .tab(tab)).map { keeps($0, as: first) } ?? false
    }

    /// The number of screens of a path that are kept, from the bottom up.
    func kept(_ path: [ScreenInstance], as wanted: [Flow.Destination]) -> Int {
        zip(wanted, path).prefix { keeps($1, as: $0) }.count
    }

    private func keepsAll(_ path: [ScreenInstance], as wanted: [Flow.Destination]) -> Bool {
        path.count == wanted.count && kept(path, as: wanted) == path.count
    }

    /// The number of presentations that are kept: 1 if the lowest presentation is the target's and all screens beneath
    /// it are kept, otherwise 0.
    func keptPresentations(of state: NavigationState) -> Int {
        guard let present = target.present, let presentation = state.presentations.first,
            presentation.style == present.style, keeps(presentation.instance, as: present.destination),
            keepsRoot(of: state), target.keepsTab(of: state), keepsColumns(of: state),
            keepsAll(state[state.bottomScope], as: target.path)
        else { return 0 }
        return 1
    }

    private func keepsColumns(of state: NavigationState) -> Bool {
        let open = state.columns
        return Set(open.keys) == Set(target.columns.keys)
            && target.columns.allSatisfy { keepsAll(open[$0]?.instances ?? [], as: $1.screens) }
    }

    /// The strictest treatment among the presentations that are not kept: `refuse`, then `wait`, then `dismiss`.
    func precedence(in state: NavigationState) -> Flow.Precedence {
        let precedences = state.presentations.dropFirst(keptPresentations(of: state)).map {
            link.precedence(over: $0.style)
        }
        if precedences.contains(.refuse) { return .refuse }
        return precedences.contains(.wait) ? .wait : .dismiss
    }
}

/// A deep link that waits until it can be followed.
public struct ParkedLink: Codable, Hashable, Sendable {
    public var url: String
    /// The id of the message that delivered the link.
    public var messageID: String
    /// The time in milliseconds since 1970 at which the link expires. It is discarded when the next message after this
    /// time is handled.
    @BoundedInteger public var expires: Int
    /// The ids of the messages that were waiting when the link arrived: the messages that waited for answers, and the
    /// messages queued after them. The link is not discarded because of a screen that one of them opens. Nil if no
    /// message was waiting.
    public var older: [String]?

    public init(url: String, messageID: String, expires: Int, older: [String]? = nil) {
        self.url = url
        self.messageID = messageID
        self.expires = expires
        self.older = older
    }

    init(url: String, messageID: String, expires: Int, waiting: [PendingGuard]) {
        let older = waiting.flatMap { attempt in [attempt.message.id] + attempt.queue.map(\.id) }
        self.init(url: url, messageID: messageID, expires: expires, older: older.isEmpty ? nil : older)
    }

    /// The effect that reports why the link is discarded.
    func discarded(_ reason: String) -> Machine.Effect {
        .messageDiscarded(messageID: messageID, reason: "\(Machine.deepLinkReceived): \(reason)")
    }
}
