internal import Navigation
internal import Support

/// The navigation of the music player, as a machine of its flow or as a switch written by hand.
protocol PlayerNavigation {
    var state: NavigationState { get }

    mutating func handle(_ input: Machine.Input) -> [Machine.Effect]
}

extension Machine: PlayerNavigation {}

/// A story that a user goes through in the music player: a log-in, two playlists with their sheets, and a log-out. It
/// may be told again and again.
struct PlayerStory<Navigation: PlayerNavigation> {
    private(set) var navigation: Navigation
    /// The number of messages that have been handled.
    private(set) var count = 0
    /// Receives the effects of each message.
    private let observe: ([Machine.Effect]) -> Void

    init(_ navigation: Navigation, observe: @escaping ([Machine.Effect]) -> Void = { _ in }) {
        self.navigation = navigation
        self.observe = observe
        send("event.LaunchFinished")
    }

    /// Tells the story until this number of messages has been handled.
    mutating func tell(until count: Int) {
        while self.count < count { tell() }
    }

    mutating func tell() {
        send("event.AccountChanged", ["status": "signedIn"])
        for playlist: JSONValue in ["morning", "evening"] {
            send("command.PlaylistSelected", ["playlistID": playlist])
            // The user taps twice.
            send("command.PlaylistSelected", ["playlistID": playlist])
            send("event.SpeakerRequired")
            send("command.SpeakerSelected", ["speakerID": "kitchen"])
            send("command.NowPlayingRequested")
            // No rule answers this command.
            send("command.PauseRequested")
            report("command.PresentationDismissed", navigation.state.presentations.last?.instance)
        }
        report("command.BackCompleted", navigation.state.path.last)
        send("event.AccountChanged", ["status": "signedOut"])
    }

    /// Sends a message, and then reports that the screens which it has dismissed are gone.
    private mutating func send(_ type: String, _ data: JSONValue = [:]) {
        handle(type, data)
        for instance in navigation.state.leaving { report("command.ScreenGone", instance) }
    }

    private mutating func report(_ type: String, _ instance: ScreenInstance?) {
        handle(type, ["instance": .string(instance?.id ?? "")])
    }

    private mutating func handle(_ type: String, _ data: JSONValue) {
        count += 1
        let attributes = Machine.Attributes(platform: PlayerFlow.platform, device: "phone-1", time: 1_800_000_000_000)
        observe(
            navigation.handle(Machine.Input(id: "message-\(count)", type: type, data: data, attributes: attributes)))
    }
}
