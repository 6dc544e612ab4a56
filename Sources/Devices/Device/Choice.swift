internal import Contracts
public import EventBus
internal import Foundation
internal import Navigation
public import Support

/// An action that a person can choose on a scene: its label, and the message that it sends or the query that it asks.
public struct Choice: Sendable {
    public let label: String
    /// The id of the screen instance to which the choice belongs.
    public let instance: String
    /// The way in which a view draws the choice.
    public let role: ScreenAction.Role
    let content: Content
    /// True if the message reports an action of the person, such as going back. A report does not expire; other
    /// messages do.
    let isReport: Bool
    let outcome: Outcome

    enum Content: Sendable {
        case command(any CommandMessage)
        case query(any QueryMessage, about: MessageType)
        /// A command that is known only from the flow: its type, and the JSON object with the fields that a person has
        /// entered.
        case named(MessageType, Data)
    }

    /// The kind of message that shows that the choice has been acted upon. An error or a discarded message with the
    /// choice's correlation id also shows this. So does a request to open a URL on this device, except for
    /// `closedBanner`.
    enum Outcome {
        /// A new navigation state in which no guard waits for the choice, or an event with an ``AppScreens/Notice``.
        case navigation
        /// Such a navigation state, or any other document, because no rule for the command is known.
        case anything
        case openedURL
        /// The answer to a query, or the error for which there is none.
        case answer
        /// Another error banner, or none.
        case closedBanner
    }

    /// The type of the command that the choice sends. Nil for a query.
    package var commandType: MessageType? {
        switch content {
        case .command(let command): Swift.type(of: command).type
        case .named(let type, _): type
        case .query: nil
        }
    }

    init(_ action: ScreenAction, on instance: String, outcome: Outcome) {
        switch action.content {
        case .command(let command):
            self.init(
                label: action.label, instance: instance, role: action.role, content: .command(command), outcome: outcome
            )
        case .query(let query, let document):
            self.init(
                label: action.label, instance: instance, role: action.role, content: .query(query, about: document),
                outcome: .answer)
        }
    }

    init(
        reporting command: any CommandMessage, on instance: String, label: String, role: ScreenAction.Role = .normal,
        outcome: Outcome = .navigation
    ) {
        self.init(
            label: label, instance: instance, role: role, content: .command(command), isReport: true, outcome: outcome)
    }

    /// Creates a choice for a command that is known only from the flow, by its type.
    init(_ type: MessageType, on instance: String, outcome: Outcome) {
        self.init(label: type.name, instance: instance, content: .named(type, Data("{}".utf8)), outcome: outcome)
    }

    init(closing banner: Banner, on instance: String) {
        self.init(
            label: "Dismiss", instance: instance, content: .command(banner.dismissal), outcome: .closedBanner)
    }

    private init(
        label: String, instance: String, role: ScreenAction.Role = .normal, content: Content, isReport: Bool = false,
        outcome: Outcome
    ) {
        self.label = label
        self.instance = instance
        self.role = role
        self.content = content
        self.isReport = isReport
        self.outcome = outcome
    }

    /// The command. Nil if only its type is known, or if the choice asks a query.
    public var command: (any CommandMessage)? {
        if case .command(let command) = content { command } else { nil }
    }

    /// The message type of the command or query.
    public var type: MessageType {
        switch content {
        case .command(let command): Swift.type(of: command).type
        case .query(let query, _): Swift.type(of: query).type
        case .named(let type, _): type
        }
    }

    /// The name of the choice in a view that is not in this process. It consists of the screen instance, the type of
    /// the message and its data, so it is the same on each scene that has the choice.
    public var id: String {
        let data: JSONValue? =
            switch content {
            case .command(let command): try? JSONValue(encoding: command)
            case .query(let query, _): try? JSONValue(encoding: query)
            case .named: nil
            }
        return "\(instance) \(type) \(data?.description ?? "")"
    }

    /// True if a person can enter fields for the command, because only its type is known.
    public var takesFields: Bool {
        if case .named = content { true } else { false }
    }

    /// The choice with the fields that a person has entered. A choice that does not take fields is returned unchanged.
    public func filled(with fields: [String: JSONValue]) -> Choice {
        filled(with: Data(JSONValue.object(fields).description.utf8))
    }

    /// The choice with the fields that a person has entered, as they are written in a JSON object.
    package func filled(with fields: JSONText) -> Choice { filled(with: Data(fields.utf8)) }

    private func filled(with data: Data) -> Choice {
        guard case .named(let type, _) = content else { return self }
        return Choice(
            label: label, instance: instance, role: role, content: .named(type, data), isReport: isReport,
            outcome: outcome)
    }

    /// The message of the choice.
    /// - Parameter lifetime: The time after which the message expires, unless it is a report or a query.
    /// - Throws: ``BusError`` if the command or query cannot be encoded as JSON.
    func envelope(from identity: DeviceIdentity, lifetime: Duration) throws -> Envelope {
        var envelope: Envelope
        switch content {
        case .command(let command): envelope = try identity.envelope(command, instance: instance)
        case .query(let query, _): return try identity.envelope(query, instance: instance)
        case .named(let type, let data):
            var attributes = Attributes(type: type, source: identity.source, subject: identity.subject)
            attributes.platform = identity.platform
            attributes.device = identity.device
            attributes.instance = instance
            envelope = Envelope(attributes: attributes, data: data)
        }
        if !isReport { envelope.attributes.expire(after: lifetime) }
        return envelope
    }
}
