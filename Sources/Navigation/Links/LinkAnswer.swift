public import Support

/// The treatment of a deep link in a state.
enum LinkAnswer {
    /// The link is discarded, for the given reason.
    case refused(reason: String)
    /// The link to `url` cannot be followed yet, for the given reason. It may wait for at most `park` milliseconds.
    /// `otherwise` is opened if the URL has just arrived.
    case waits(reason: String, url: String, park: Int, otherwise: FollowedLink? = nil)
    /// The link to `url` is followed now.
    case followed(FollowedLink, url: String)
    /// The link opens no screens; it sends its commands now.
    case acts(FollowedLink)
}

extension Flow {
    /// The maximum number of redirects in a row.
    private static let redirectLimit = 8

    /// Returns the treatment of a URL in a state.
    ///
    /// The first matching link applies whose conditions hold or whose target is open already. If there is none, the URL
    /// waits for the time that the first matching link specifies.
    ///
    /// - Parameters:
    ///   - isParked: True if the URL is waiting. Then no link applies that only sends commands.
    ///   - onRedirect: Called with the index of each link that redirects the URL.
    func answer(
        to url: String, in state: NavigationState, isParked: Bool = false, onRedirect: (Int) -> Void = { _ in }
    ) -> LinkAnswer {
        var url = url
        for _ in 0...Self.redirectLimit {
            guard let parts = URLParts(url) else { return .refused(reason: advice(forLink: url)) }
            let matches = matches(of: parts, in: state, isParked: isParked)
            guard let first = matches.first else {
                // A redirect that does not apply matches the URL, too.
                let reason = hasLink(for: url) ? Self.notNow("its conditions do not hold") : advice(forLink: url)
                return .refused(reason: reason)
            }
            let match = matches.first { $0.isThere(state) || $0.link.admits(state) }
            guard let match, match.link.redirect != nil else { return answer(match, first, url, state) }
            guard let target = match.redirected else {
                return .refused(
                    reason: "a value of the URL is '.' or '..', which cannot be a part of the redirect's path")
            }
            onRedirect(match.prepared.index)
            url = target
        }
        return .refused(reason: "more than \(Self.redirectLimit) redirects follow each other")
    }

    private func answer(
        _ match: FollowedLink?, _ first: FollowedLink, _ url: String, _ state: NavigationState
    ) -> LinkAnswer {
        guard let match else {
            return .waits(
                reason: "its conditions do not hold", url: url, park: first.park, otherwise: first.otherwise)
        }
        // If the link's target is open already, nothing delays the link.
        if match.isThere(state) { return .followed(match, url: url) }
        switch obstacle(to: match, in: state) {
        case .waits(let reason): return .waits(reason: reason, url: url, park: match.park)
        case .refuses(let reason): return .refused(reason: reason)
        case nil: return match.link.isAction ? .acts(match) : .followed(match, url: url)
        }
    }

    /// The links that match the URL, except for redirects that do not apply.
    private func matches(of url: URLParts, in state: NavigationState, isParked: Bool) -> [FollowedLink] {
        var matches: [FollowedLink] = []
        for prepared in program.links {
            let link = prepared.link
            guard let values = values(of: prepared, in: url), !(isParked && link.isAction),
                link.redirect == nil || link.admits(state)
            else { continue }
            // `{name...}` is for the URLs that the other links leave.
            if link.pattern?.hasRest == true, matches.contains(where: { $0.link.url != link.url }) { continue }
            let target = prepared.to ?? LinkTarget(Link.Target())
            matches.append(FollowedLink(prepared: prepared, target: target, values: values))
        }
        return matches
    }

    /// The values of a URL that a link matches. Nil if it does not match: also if a screen or a command, as the flow
    /// declares it, does not allow a value.
    private func values(of prepared: PreparedLink, in url: URLParts) -> [String: JSONValue]? {
        guard let values = prepared.link.pattern?.values(in: url), problems(with: values, of: prepared).isEmpty else {
            return nil
        }
        return values
    }

    /// The reasons why the declared arguments of screens and fields of commands do not allow these values of a URL.
    private func problems(with values: [String: JSONValue], of prepared: PreparedLink) -> [SchemaProblem] {
        prepared.uses.flatMap { use -> [SchemaProblem] in
            guard let value = values[use.placeholder], use.fallback == nil || value != "" else { return [] }
            return use.field.schema.problems(with: value, at: use.name)
        }
    }

    /// True if a link of the flow matches this URL.
    func hasLink(for url: String) -> Bool {
        guard let parts = URLParts(url) else { return false }
        return program.links.contains { !$0.link.isAction && values(of: $0, in: parts) != nil }
    }

    /// The reason for discarding a URL that no link matches: a value that is not allowed, or the most similar pattern,
    /// or all patterns.
    func advice(forLink url: String) -> String {
        let parts = URLParts(url)
        // Only the beginnings of long URLs are compared.
        func brief(_ text: String) -> String { String(text.prefix(200)) }
        let url = brief(url)
        for prepared in program.links {
            guard let values = parts.flatMap({ prepared.link.pattern?.values(in: $0) }) else { continue }
            if let problem = problems(with: values, of: prepared).first {
                return "no link matches the URL '\(url)': \(problem)"
            }
        }
        // Each pattern is filled in with the URL's own values before it is compared.
        let spellings = links.map { link in
            (pattern: link.url, text: brief(parts.flatMap { link.pattern?.filled(from: $0) } ?? link.url))
        }
        let nearest = Spelling.nearest(to: url, in: spellings.map(\.text))
        let meant = spellings.first { $0.text == nearest }.map { "did you mean '\($0.pattern)'?" }
        return "no link matches the URL '\(url)'; \(meant ?? "known: \(links.map(\.url).joined(separator: ", "))")"
    }

    /// The reason for discarding a link that cannot be followed and does not wait.
    static func notNow(_ reason: String) -> String { "the link cannot be followed now: \(reason)" }

    /// The reason why the screens of a link cannot be opened in a state. Nil if there is none.
    func obstacle(to link: FollowedLink, in state: NavigationState) -> LinkObstacle? {
        if let gate = state.open.first(where: { screens[$0.screen]?.gate == true }) {
            return .waits("screen '\(gate.screen)' must be completed first")
        }
        // A link that only sends commands dismisses nothing.
        if link.link.isAction { return nil }
        return switch link.precedence(in: state) {
        case .dismiss: nil
        case .wait: .waits("a presentation must be dismissed first")
        case .refuse: .refuses("a presentation that the link must not dismiss is open")
        }
    }

    /// Returns the URL that leads to a state of this flow.
    ///
    /// - Returns: The URL in normal form. Nil if no link leads there.
    public func url(for state: NavigationState) -> String? {
        for prepared in program.links {
            guard let values = prepared.values(of: state), problems(with: values, of: prepared).isEmpty,
                let url = prepared.link.pattern?.url(with: values)
            else { continue }
            // An earlier link that matches this URL, and whose conditions hold, is followed instead. `{name...}` is for
            // the URLs that the other links leave.
            let isLast = prepared.link.pattern?.hasRest == true
            let others = program.links[..<prepared.index].filter { other in
                other.link.admits(state)
                    || isLast && other.link.redirect == nil && other.link.url != prepared.link.url
            }
            if others.isEmpty { return url }
            guard let parts = URLParts(url) else { continue }
            if !others.contains(where: { self.values(of: $0, in: parts) != nil }) { return url }
        }
        return nil
    }
}

/// The reason why the screens of a deep link cannot be opened now.
enum LinkObstacle {
    /// The link may wait.
    case waits(String)
    /// The link is discarded.
    case refuses(String)
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
