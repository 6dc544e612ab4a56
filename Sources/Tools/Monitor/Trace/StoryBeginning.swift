internal import Contracts
internal import EventBus

extension Envelope {
    /// Among these are all messages that ``beginsStory`` is true of.
    static let storyBeginnings = [MessageFilter.kind(.command), .kind(.event)]

    /// Whether a story begins with it: somebody wants something, or something has happened, and no message is the cause.
    ///
    /// What views report of what they show comes of another story, though they do not say of which.
    var beginsStory: Bool {
        guard attributes.causationID == nil, attributes.correlationID == id else { return false }
        let isReport = type == Command.ScreenDisplayed.type || type == Command.ScreenGone.type
        return type.kind == .event || type.kind == .command && !isReport
    }
}
