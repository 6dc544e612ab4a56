public import Support

extension Machine {
    /// A message as a machine sees it.
    public struct Input: Codable, Hashable, Sendable {
        /// The message's identifier.
        public var id: String
        /// Its type, such as `command.PlaylistSelected`.
        public var type: String
        /// The session that it belongs to.
        public var subject: String
        /// What it carries.
        public var data: JSONValue
        /// Where it came from.
        public var attributes: Attributes

        /// Makes an input.
        public init(
            id: String,
            type: String,
            subject: String = "default",
            data: JSONValue = .object([:]),
            attributes: Attributes = Attributes()
        ) {
            self.id = id
            self.type = type
            self.subject = subject
            self.data = data
            self.attributes = attributes
        }
    }

    /// When a message was sent, and where it came from: a service's or a tool's message is from nowhere in particular.
    public struct Attributes: Codable, Hashable, Sendable {
        /// The platform of the view, such as `ios`.
        public var platform: String?
        /// The device that the view is on.
        public var device: String?
        /// The instance of the screen that sent the message.
        public var instance: String?
        /// The identifier of the message that directly caused this one.
        public var causationID: String?
        /// When it was sent, in milliseconds since 1970: the only clock that a machine knows.
        public var time: Int?
        /// When it is too old to be acted upon, in milliseconds since 1970.
        public var expiry: Int?

        /// Makes attributes.
        public init(
            platform: String? = nil,
            device: String? = nil,
            instance: String? = nil,
            causationID: String? = nil,
            time: Int? = nil,
            expiry: Int? = nil
        ) {
            self.platform = platform
            self.device = device
            self.instance = instance
            self.causationID = causationID
            self.time = time
            self.expiry = expiry
        }
    }

    /// What the host of a machine has to do. That the state has changed in the end shows in the revision.
    public enum Effect: Hashable, Sendable {
        /// Ask the device where the message began to open this absolute URL.
        case openURL(String)
        /// Send this command, with the machine's platform and the device of the message as its attributes.
        case send(type: String, data: JSONValue)
        /// Send this command of a guard on behalf of a screen instance. The answer names its identifier; once nobody waits
        /// for that any more, the command has expired.
        case ask(id: String, type: String, data: JSONValue, instance: String, within: Duration)
        /// Send `event.GuardDeadlinePassed` for this attempt after a while, should it still wait then.
        case expectAnswer(attempt: String, within: Duration)
        /// What follows began where these attributes say, with a message that had to wait: URLs open there.
        case began(Attributes)
        /// Publish this state, to which all since the message or since the last of these has led: what follows leads on.
        case passed(NavigationSnapshot)
        /// Tell the services that this instance is dismissed: work addressed to it ends.
        case screenDismissed(instance: String, screen: String)
        /// Tell everyone that this message came too late or made no sense, so that nothing is lost in silence.
        case messageDiscarded(messageID: String, reason: String)
        /// Tell the person who gave this command that it came too late.
        case commandExpired(messageID: String, type: String)
        /// Send `command.ScreenGone` for this instance after a while, should no view have done so.
        case expectScreenGone(instance: String)
        /// Report that a rule matched, but could not be applied; the state is as before.
        case failed(NavigationFailure)
    }
}

/// What views tell the machine of their platform. It answers these itself, in every flow alike.
package enum ViewReport: String, CaseIterable {
    case screenDisplayed = "command.ScreenDisplayed"
    case backStarted = "command.BackStarted"
    case backCancelled = "command.BackCancelled"
    case backCompleted = "command.BackCompleted"
    case presentationDismissed = "command.PresentationDismissed"
    case alertAnswered = "command.AlertAnswered"
    case tabSelected = "command.TabSelected"
    case screenGone = "command.ScreenGone"
}
