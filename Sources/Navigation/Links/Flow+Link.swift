extension Flow {
    /// A deep link: what its URLs look like, when they may be followed, and where they lead.
    ///
    ///     Flow.Link(
    ///         "focus://playlist/{playlistID}",
    ///         when: [.root("playlistSelection")],
    ///         to: .init(
    ///             root: "playlistSelection",
    ///             path: [.screen("generatedPlaylist", ["playlistID": "${url.playlistID}"])]
    ///         )
    ///     )
    public struct Link: Hashable, Sendable {
        /// The pattern of its URLs; see ``URLPattern``.
        public let url: String
        /// Conditions on the state that must all hold for it to be followed. Until they do, it is parked.
        public let when: [Condition]
        /// Conditions on the state of which none may hold.
        public let unless: [Condition]
        /// Where it leads.
        public let to: Target
        /// The commands that go out when it is followed, so that services load what it shows. They are not sent when what
        /// it leads to is there already.
        public let sends: [Sending]
        /// How long it stays parked, in whole milliseconds. One that is not parked at all is followed at once or never.
        public let park: Duration
        /// What happens to presentations in its way, where that is not the style's usual.
        public let over: [PresentationStyle: Precedence]
        /// nil for a pattern that cannot be read, which is a finding of the checker.
        let pattern: URLPattern?

        /// How long a link stays parked unless its flow says something else.
        public static let usualPark: Duration = .seconds(600)

        /// Declares a deep link.
        public init(
            _ url: String,
            when: [Condition] = [],
            unless: [Condition] = [],
            to: Target,
            send sends: [Sending] = [],
            park: Duration = usualPark,
            over: [PresentationStyle: Precedence] = [:]
        ) {
            self.url = url
            self.when = when.sorted { $0.place.rawValue < $1.place.rawValue }
            self.unless = unless.sorted { $0.place.rawValue < $1.place.rawValue }
            self.to = to
            self.sends = sends
            self.park = .milliseconds(park.milliseconds)
            self.over = over
            pattern = try? URLPattern(url)
        }

        /// What happens to a presentation of this style that is in the link's way.
        func precedence(over style: PresentationStyle) -> Precedence {
            if let precedence = over[style] { return precedence }
            // Whoever asks a question is owed an answer.
            return style.isQuestion ? .wait : .dismiss
        }

        /// Whether it may be followed in this state, as far as its own conditions tell.
        func admits(_ state: NavigationState) -> Bool {
            when.allSatisfy { $0.holds(in: state) } && !unless.contains { $0.holds(in: state) }
        }

        /// The root screens on which it lies: its own, or those that it asks for.
        var roots: [String] {
            if let root = to.root { return [root.destination.screen] }
            return when.filter { $0.place == .root }.flatMap { $0.screens.map(\.screen) }
        }
    }

    /// What happens to a presentation that is in a deep link's way.
    public enum Precedence: String, Hashable, Sendable, CaseIterable {
        /// The presentation goes.
        case dismiss
        /// The link is parked until the presentation has gone.
        case wait
        /// The link is discarded.
        case refuse
    }
}
