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
}

extension FollowedLink {
    /// Whether the state is the one that it leads to.
    func isThere(_ state: NavigationState) -> Bool { link.values(of: state) == values }
}
