internal import Navigation
internal import Support

/// The navigation of the music player, written by hand: a switch over the types of messages. For the messages of the
/// story, it has the states and the effects of a machine that runs ``PlayerFlow``.
struct HandWrittenPlayer: PlayerNavigation {
    private(set) var state = NavigationState(root: RootScreen(ScreenInstance(screen: "launch", id: "launch-1")))
    private var instances = 1
    private var effects: [Machine.Effect] = []

    mutating func handle(_ input: Machine.Input) -> [Machine.Effect] {
        effects = []
        switch input.type {
        case "event.LaunchFinished":
            if state.root.instance.screen == "launch" { setRoot("signIn") }
        case "event.AccountChanged":
            let isOut = ["launch", "signIn"].contains(state.root.instance.screen)
            switch input.data["status"]?.stringValue {
            case "signedIn" where isOut: setRoot("playlists")
            case "signedOut" where !isOut: setRoot("signIn")
            default: break
            }
        case "command.PlaylistSelected": select(input.data["playlistID"] ?? .null)
        case "event.SpeakerRequired": present("speakers", .medium, unless: ["speakers"])
        case "command.SpeakerSelected": dismiss("speakers")
        case "command.NowPlayingRequested": present("nowPlaying", .large, unless: ["nowPlaying", "speakers"])
        case "command.ScreenGone": state.leaving.removeAll { $0.id == input.data["instance"]?.stringValue }
        case "command.PresentationDismissed":
            if let index = state.presentations.firstIndex(where: { isNamed($0.instance, input) }) {
                forget(state.presentations[index...].map(\.instance))
                state.presentations.removeSubrange(index...)
            }
        case "command.BackCompleted":
            if let index = state.path.firstIndex(where: { isNamed($0, input) }) {
                forget(Array(state.path[index...]))
                state.path.removeSubrange(index...)
            }
        default: break
        }
        return effects
    }

    private func isNamed(_ instance: ScreenInstance, _ input: Machine.Input) -> Bool {
        instance.id == input.data["instance"]?.stringValue
    }

    private mutating func instance(_ screen: String, _ arguments: [String: JSONValue] = [:]) -> ScreenInstance {
        instances += 1
        return ScreenInstance(screen: screen, id: "\(screen)-\(instances)", arguments: arguments)
    }

    private mutating func setRoot(_ screen: String) {
        leave([state.root.instance] + state.path + state.presentations.map(\.instance))
        state.path = []
        state.presentations = []
        state.root = RootScreen(instance(screen))
    }

    private mutating func select(_ playlist: JSONValue) {
        guard state.root.instance.screen == "playlists" else { return }
        if let top = state.path.last, top.arguments["playlistID"] == playlist { return }
        leave(state.presentations.map(\.instance))
        state.presentations = []
        leave(state.path)
        state.path = [instance("playlist", ["playlistID": playlist])]
    }

    private mutating func present(_ screen: String, _ detent: Detent, unless others: [String]) {
        guard state.path.last?.screen == "playlist",
            !state.presentations.contains(where: { others.contains($0.instance.screen) })
        else { return }
        state.presentations.append(
            Presentation(.sheet, instance(screen), options: PresentationOptions(detents: [detent])))
    }

    private mutating func dismiss(_ screen: String) {
        guard let index = state.presentations.firstIndex(where: { $0.instance.screen == screen }) else { return }
        leave(state.presentations[index...].map(\.instance))
        state.presentations.removeSubrange(index...)
    }

    /// Records that the program has dismissed these instances, from the bottom up.
    private mutating func leave(_ dismissed: [ScreenInstance]) {
        for instance in dismissed.reversed() {
            state.leaving.append(instance)
            effects.append(.screenDismissed(instance: instance.id, screen: instance.screen))
            effects.append(.expectScreenGone(instance: instance.id))
        }
    }

    /// Records that the user has dismissed these instances, from the bottom up.
    private mutating func forget(_ dismissed: [ScreenInstance]) {
        for instance in dismissed.reversed() {
            effects.append(.screenDismissed(instance: instance.id, screen: instance.screen))
        }
    }
}
