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
    /// - Parameter isParked: True if the URL is waiting. Then no link applies that only sends commands.
    func answer(to url: String, in state: NavigationState, isParked: Bool = false) -> LinkAnswer {
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
            guard let target = match?.redirected else { return answer(match, first, url, state) }
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
        for (index, link) in links.enumerated() {
            guard let values = values(of: link, in: url), !(isParked && link.isAction),
                link.redirect == nil || link.admits(state)
            else { continue }
            // `{name...}` is for the URLs that the other links leave.
            if link.pattern?.hasRest == true, matches.contains(where: { $0.link.url != link.url }) { continue }
            matches.append(FollowedLink(link: link, index: index, target: link.to ?? Link.Target(), values: values))
        }
        return matches
    }

    /// The values of a URL that a link matches. Nil if it does not match: also if a screen or a command, as the flow
    /// declares it, does not allow a value.
    func values(of link: Link, in url: URLParts) -> [String: JSONValue]? {
        guard let values = link.pattern?.values(in: url), problems(with: values, of: link).isEmpty else { return nil }
        return values
    }

    /// The reasons why the declared arguments of screens and fields of commands do not allow these values of a URL.
    private func problems(with values: [String: JSONValue], of link: Link) -> [SchemaProblem] {
        guard checksLinkValues, !values.isEmpty else { return [] }
        return uses(of: link).flatMap { use -> [SchemaProblem] in
            guard let value = values[use.placeholder], use.fallback == nil || value != "" else { return [] }
            return use.field.schema.problems(with: value, at: use.name)
        }
    }

    /// True if a link of the flow matches this URL.
    func hasLink(for url: String) -> Bool {
        guard let parts = URLParts(url) else { return false }
        return links.contains { !$0.isAction && values(of: $0, in: parts) != nil }
    }

    /// The reason for discarding a URL that no link matches: a value that is not allowed, or the most similar pattern,
    /// or all patterns.
    func advice(forLink url: String) -> String {
        let parts = URLParts(url)
        // Only the beginnings of long URLs are compared.
        func brief(_ text: String) -> String { String(text.prefix(200)) }
        let url = brief(url)
        for link in links {
            guard let values = parts.flatMap({ link.pattern?.values(in: $0) }) else { continue }
            if let problem = problems(with: values, of: link).first {
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
        for (index, link) in links.enumerated() {
            guard let values = link.values(of: state), problems(with: values, of: link).isEmpty,
                let url = link.pattern?.url(with: values), let parts = URLParts(url)
            else { continue }
            // An earlier link that matches this URL, and whose conditions hold, is followed instead. `{name...}` is for
            // the URLs that the other links leave.
            let isLast = link.pattern?.hasRest == true
            let isTaken = links[..<index].contains { earlier in
                (earlier.admits(state) || isLast && earlier.redirect == nil && earlier.url != link.url)
                    && self.values(of: earlier, in: parts) != nil
            }
            if !isTaken { return url }
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

extension FollowedLink {
    /// True if the link's target is open in the state, with the link's values.
    func isThere(_ state: NavigationState) -> Bool {
        guard isOtherwise || link.to != nil && link.isOn(state.root.instance.screen) else { return false }
        return link.isOpen(target, with: values, in: state)
    }

    /// The maximum time for which the link stays parked, in milliseconds.
    fileprivate var park: Int { link.isAction ? 0 : link.park.milliseconds }

    /// The screens that are opened if the conditions do not hold. Nil if there are none.
    fileprivate var otherwise: FollowedLink? {
        link.otherwise.map { FollowedLink(link: link, index: index, target: $0, values: values, isOtherwise: true) }
    }

    /// The URL to which the link leads. Nil if it is not a redirect.
    fileprivate var redirected: String? {
        link.redirect.flatMap { LinkTemplate($0) }?.filled { name, fallback in
            let text = values[name]?.argumentText
            guard let text = fallback != nil && text == "" ? fallback : text ?? fallback else { return nil }
            let isRest = link.pattern?.hasRest == true && link.pattern?.inPath.last?.name == name
            return isRest ? URLPattern.encode(rest: text) : PercentEncoding.encode(text)
        }
    }

    /// Arguments or data, filled in with the values of the URL.
    func filled(_ members: [String: JSONValue]) -> [String: JSONValue] { link.filled(members, from: values) }
}

/// A deep link with the values of one URL, which is about to be followed. It determines which screens are kept.
///
/// An instance that differs in a value of the URL's path is replaced by a new instance. An instance that differs only
/// in values of the query is kept and gets other arguments.
struct FollowedLink {
    let link: Flow.Link
    /// The index among the flow's links.
    let index: Int
    /// The screens that are opened.
    let target: Flow.Link.Target
    let values: [String: JSONValue]
    /// True if the target is the link's `otherwise`.
    var isOtherwise = false

    /// True if this instance is kept in the place of `destination`.
    func keeps(_ instance: ScreenInstance, as destination: Flow.Destination) -> Bool {
        guard instance.screen == destination.screen, instance.run == nil,
            instance.arguments.keys.allSatisfy({ destination.arguments[$0] != nil })
        else { return false }
        let wanted = filled(destination.arguments)
        return destination.arguments.allSatisfy { name, argument in
            let own = instance.arguments[name]
            if let placeholder = LinkArgument(argument).placeholder, link.pattern?.isInPath(placeholder) == false {
                return own.map { $0.argumentText != nil } ?? true
            }
            guard let own, let wanted = wanted[name] else { return own == nil && wanted[name] == nil }
            return own.isSameArgument(as: wanted)
        }
    }

    /// The kept instance, with the arguments for the URL's values.
    func updated(_ instance: ScreenInstance, as destination: Flow.Destination) -> ScreenInstance {
        if link.isFilled(instance, as: destination, from: values) { return instance }
        var updated = instance
        updated.arguments = filled(destination.arguments)
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
