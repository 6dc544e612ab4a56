internal import Support

/// What becomes of a deep link in a state.
enum LinkAnswer {
    /// No link of the flow has such a URL.
    case unknown
    /// It can never be followed from here.
    case refused(String)
    /// It cannot be followed yet; it may wait for so many milliseconds.
    case waits(String, park: Int)
    /// It leads there now.
    case followed(FollowedLink)
}

extension Flow {
    /// What becomes of a URL in a state.
    ///
    /// The first link whose URL it is and whose conditions hold is the one. While the conditions of none hold, it waits
    /// as the first says whose URL it is.
    func answer(to url: String, in state: NavigationState) -> LinkAnswer {
        guard let parts = URLParts(url) else { return .unknown }
        let matches = links.compactMap { link in
            link.pattern?.values(in: parts).map { FollowedLink(link: link, values: $0) }
        }
        guard let first = matches.first else { return .unknown }
        let match = matches.first { $0.isThere(state) || $0.link.admits(state) }
        guard let match else { return .waits("its conditions do not hold", park: first.link.park.milliseconds) }
        // Whoever is there already has nothing to wait for.
        if match.isThere(state) { return .followed(match) }
        let park = match.link.park.milliseconds
        if let gate = state.standing.first(where: { screens[$0.screen]?.gate == true }) {
            return .waits("screen '\(gate.screen)' comes first", park: park)
        }
        switch match.precedence(in: state) {
        case .dismiss: return .followed(match)
        case .wait: return .waits("what is presented comes first", park: park)
        case .refuse: return .refused("what is presented must not be dismissed for it")
        }
    }

    /// Whether any of its links has this URL.
    func hasLink(for url: String) -> Bool {
        guard let parts = URLParts(url) else { return false }
        return links.contains { $0.pattern?.values(in: parts) != nil }
    }

    /// What to tell someone whose URL no link has.
    func advice(forLink url: String) -> String {
        // A URL may be long, and spelling takes time that grows with it.
        let url = String(url.prefix(200))
        let parts = URLParts(url)
        // With the URL's own values in their places, patterns differ from it in what is mistaken only.
        let spellings = links.map { link in
            (pattern: link.url, text: parts.flatMap { link.pattern?.filled(from: $0) } ?? link.url)
        }
        let nearest = Spelling.nearest(to: url, in: spellings.map(\.text))
        let meant = spellings.first { $0.text == nearest }.map { "did you mean '\($0.pattern)'?" }
        return "no link has the URL '\(url)'; \(meant ?? "known are \(links.map(\.url).joined(separator: ", "))")"
    }

    /// The URL that leads to a state.
    ///
    /// - Parameter state: A state of this flow.
    /// - Returns: The URL in normal form, of the first link that leads there; nil when none does.
    public func url(for state: NavigationState) -> String? {
        for (index, link) in links.enumerated() {
            guard let url = link.url(for: state), let parts = URLParts(url) else { continue }
            // An earlier link would take the URL for its own, and lead elsewhere.
            let isTaken = links[..<index].contains { $0.admits(state) && $0.pattern?.values(in: parts) != nil }
            if !isTaken { return url }
        }
        return nil
    }
}

extension FollowedLink {
    /// Whether the state is the one that it leads to.
    func isThere(_ state: NavigationState) -> Bool { link.values(of: state) == values }
}

/// A deep link with the values of one URL, about to be followed: what of a state stays, and what is in its way.
///
/// As much as possible stays, from the bottom up. A screen that differs in what the path of the URL says is another
/// one. One that differs in what the query says is the same, with other arguments.
struct FollowedLink {
    let link: Flow.Link
    let values: [String: String]

    var target: Flow.Link.Target { link.to }

    /// Whether this instance stays where `destination` is wanted.
    func keeps(_ instance: ScreenInstance, as destination: Flow.Destination) -> Bool {
        guard let own = destination.values(of: instance) else { return false }
        let identifying = destination.places.subtracting(link.pattern?.optional ?? [])
        return identifying.allSatisfy { own[$0] == values[$0] }
    }

    /// The instance as it stays, with the arguments that differ.
    func updated(_ instance: ScreenInstance, as destination: Flow.Destination) -> ScreenInstance {
        guard destination.values(of: instance) != values.filter({ destination.places.contains($0.key) }) else {
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

    /// How many screens of a path stay, from the bottom up.
    func kept(_ path: [ScreenInstance], as wanted: [Flow.Destination]) -> Int {
        zip(wanted, path).prefix { keeps($1, as: $0) }.count
    }

    private func keepsAll(_ path: [ScreenInstance], as wanted: [Flow.Destination]) -> Bool {
        path.count == wanted.count && kept(path, as: wanted) == path.count
    }

    /// How many presentations stay. They lie over all the rest, so they go when any of it does.
    func keptPresentations(of state: NavigationState) -> Int {
        guard let present = target.present, let presentation = state.presentations.first,
            presentation.style == present.style, keeps(presentation.instance, as: present.destination),
            keepsRoot(of: state), target.keepsTab(of: state), keepsColumns(of: state),
            keepsAll(state[state.bottomPlace], as: target.path)
        else { return 0 }
        return 1
    }

    private func keepsColumns(of state: NavigationState) -> Bool {
        let standing = state.columns
        return Set(standing.keys) == Set(target.columns.keys)
            && target.columns.allSatisfy { keepsAll(standing[$0]?.instances ?? [], as: $1.screens) }
    }

    /// What happens to the presentations in its way, the most hesitant of it.
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
    /// The URL.
    public var url: String
    /// The message that brought it.
    public var messageID: String
    /// When it stops waiting, in milliseconds since 1970.
    public var expires: Int
    /// The messages that waited for an answer, or for that, when it came; nil for none. What they lead to is older than
    /// the link.
    public var older: [String]?

    /// Makes a parked link.
    public init(url: String, messageID: String, expires: Int, older: [String]? = nil) {
        self.url = url
        self.messageID = messageID
        self.expires = expires
        self.older = older
    }

    init(url: String, messageID: String, expires: Int, waiting: PendingGuard?) {
        let older = waiting.map { attempt in [attempt.message.id] + attempt.queue.map(\.id) }
        self.init(url: url, messageID: messageID, expires: expires, older: older)
    }

    /// Says that it is not followed any more.
    func discarded(_ reason: String) -> Machine.Effect {
        .messageDiscarded(messageID: messageID, reason: "\(Machine.deepLinkReceived): \(reason)")
    }
}
