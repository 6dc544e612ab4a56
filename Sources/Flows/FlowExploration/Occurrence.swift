package import Navigation
internal import Support

/// Something that can happen in a state of a flow: a message arrives, or time passes.
package struct Occurrence: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The user acts on a screen: taps, goes back, dismisses, answers, selects a tab.
        case user
        /// A service publishes an event or an error, or answers a question.
        case service
        /// The app is launched again.
        case launch
        /// A URL is opened.
        case link
        /// A deadline passes.
        case time
    }

    package let kind: Kind
    package let input: Machine.Input
    /// The instance on which the user acts. Nil for all that the user does not do.
    let instance: String?
    /// The type of the message that the message answers. Nil if it answers none.
    let causedBy: String?
    /// True if the flow or the contract names all values of the message.
    let isNamed: Bool

    /// The name of a platform that is not explored.
    static let otherPlatform = "others"

    /// The name that every explored message has. In an explored state, nothing else has it.
    private static let id = "explored"

    init(
        _ kind: Kind, _ type: String, _ data: JSONValue = .object([:]), isNamed: Bool = true,
        on instance: ScreenInstance? = nil,
        answering attempt: (id: String, type: String)? = nil, at time: Int? = nil, platform: String? = nil
    ) {
        self.kind = kind
        self.instance = instance?.id
        causedBy = attempt?.type
        self.isNamed = isNamed
        input = Machine.Input(
            id: Self.id, type: type, data: data,
            attributes: Machine.Attributes(
                platform: platform, instance: instance?.id, causationID: attempt?.id, time: time))
    }
}
