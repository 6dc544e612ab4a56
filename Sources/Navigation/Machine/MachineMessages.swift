public import Support

extension Machine {
    /// A message in the form that a machine handles.
    public struct Input: Codable, Hashable, Sendable {
        public var id: String
        /// The type, such as `command.PlaylistSelected`.
        public var type: String
        public var subject: String
        public var data: JSONValue
        /// The origin, the cause and the times of the message.
        public var attributes: Attributes

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

    /// The origin, the cause and the times of a message. An attribute is nil if the message does not have it.
    public struct Attributes: Codable, Hashable, Sendable {
        /// The platform of the view, such as `ios`.
        public var platform: String?
        /// The device that the view is on.
        public var device: String?
        /// The id of the screen instance that sent the message.
        public var instance: String?
        /// The id of the message that directly caused this message.
        public var causationID: String?
        /// The time at which the message was sent, in milliseconds since 1970.
        public var time: Int?
        /// The time at which the message expires, in milliseconds since 1970.
        public var expiry: Int?

        /// Creates attributes. Times that JSON cannot represent exactly are limited to 2^53 - 1 milliseconds from 1970.
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
            // The machine computes with these times.
            self.time = time.map { Int(SafeIntegers.limit($0)) }
            self.expiry = expiry.map { Int(SafeIntegers.limit($0)) }
        }

        public init(from decoder: any Decoder) throws {
            let object = try decoder.container(keyedBy: CodingKeys.self)
            self.init(
                platform: try object.decodeIfPresent(String.self, forKey: .platform),
                device: try object.decodeIfPresent(String.self, forKey: .device),
                instance: try object.decodeIfPresent(String.self, forKey: .instance),
                causationID: try object.decodeIfPresent(String.self, forKey: .causationID),
                time: try object.decodeIfPresent(BoundedInteger<Int>.self, forKey: .time)?.wrappedValue,
                expiry: try object.decodeIfPresent(BoundedInteger<Int>.self, forKey: .expiry)?.wrappedValue)
        }
    }

    /// A task for the host of a machine, or information about the tasks after it. The last state of a step is not an
    /// effect: the host publishes it if ``Machine/revision`` has changed.
    public enum Effect: Hashable, Sendable {
        /// Open this absolute URL on the device where the message began.
        case openURL(String)
        /// Send this command, with the machine's platform and the device of the message as its attributes.
        case send(type: String, data: JSONValue)
        /// Send the command of a guard on behalf of a screen instance, with this id. The command expires after
        /// `within`.
        case ask(id: String, type: String, data: JSONValue, instance: String, within: Duration)
        /// Send `event.GuardDeadlinePassed` for this attempt or wait after `within`, if the state still has it then.
        case expectAnswer(attempt: String, within: Duration)
        /// The following effects were caused by an earlier message with these attributes, which had to wait. For
        /// example, URLs open on the device of that message.
        case began(Attributes)
        /// Publish this intermediate state. The following effects belong to later states.
        case passed(NavigationSnapshot)
        /// Publish `event.ScreenDismissed` for this instance.
        case screenDismissed(instance: String, screen: String)
        /// Publish `event.MessageDiscarded` for this message, with the reason.
        case messageDiscarded(messageID: String, reason: String)
        /// Publish the error that this command has expired.
        case commandExpired(messageID: String, type: String)
        /// Send `command.ScreenGone` for this instance after a while, unless a view has sent it.
        case expectScreenGone(instance: String)
        /// This rule or link was applied: its place in the flow. Only the machines of an exploration tell it.
        case applied(rule: String)
        /// Report that a rule matched but could not be applied. The state was not changed by its actions.
        case failed(NavigationFailure)
    }
}

/// The reports that views send to the machine of their platform. The machine handles them itself, in the same way for
/// every flow.
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
