internal import Contracts
internal import EventBus
internal import Navigation
internal import Vocabulary

/// How far a script has come.
struct Script: Sendable {
    /// What it waits for.
    enum Wait: Sendable {
        /// Its next line.
        case line
        /// The screen that this line is about.
        case screen(for: String)
        /// The answer to what was picked.
        case answer(to: Pick)
        /// After its last line, a screen to show.
        case end
    }

    struct Pick: Sendable {
        let choice: Choice
        /// The id of its message.
        let id: String
    }

    private(set) var wait = Wait.line
    /// Counts what has been waited for.
    private(set) var waitNumber = 0
    /// The id of the last pick's message.
    private(set) var lastPickID: String?
    /// The screens that could be acted on when something on them was picked last.
    private(set) var lastScreens: [String] = []

    /// - Returns: the number of the wait.
    mutating func wait(for wait: Wait) -> Int {
        self.wait = wait
        waitNumber += 1
        return waitNumber
    }

    mutating func note(_ pick: Pick, on screen: TerminalScreen) {
        lastPickID = pick.id
        if pick.choice.outcome != .closedBanner { lastScreens = screen.active.map(\.id) }
    }

    /// Whether something other can be acted on than when something was picked last.
    func isNew(_ screen: TerminalScreen) -> Bool {
        screen.active.map(\.id) != lastScreens
    }
}

extension Script.Pick {
    /// Whether a message shows that this was acted upon. A change alone does not: the state also changes by other views,
    /// and by this one's own reports.
    ///
    /// - Parameter banner: the error that is shown now.
    func isAnswered(by message: Envelope, to identity: DeviceIdentity, banner: String?) -> Bool {
        if choice.outcome == .closedBanner, message.type == Document.ErrorBanner.type {
            return banner != (choice.command as? Command.ErrorDismissed)?.errorID
        }
        guard message.attributes.correlationID == id else { return false }
        switch message.type {
        case ApplicationError.type, DomainEvent.MessageDiscarded.type: return true
        case DomainEvent.URLOpenRequested.type:
            return choice.outcome == .openedURL && identity.isAddressed(by: message)
        case Document.NavigationState.type:
            guard choice.outcome == .navigation, message.attributes.key == identity.platform else { return false }
            // A guard that waits for its answer has not acted upon it yet.
            let state = try? message.decode(Document.NavigationState.self).snapshot.state
            return state?.attempt?.message.id != id
        case _ where choice.outcome == .service: return message.type.kind == .document
        case DomainEvent.PlaybackStarted.type: return choice.outcome == .navigation
        default: return false
        }
    }
}
