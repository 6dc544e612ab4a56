internal import Contracts
public import EventBus
internal import Foundation
internal import Navigation
public import Support

/// Something that a person can do on a scene: what it says, and the message that it sends.
public struct Choice: Sendable {
    public let label: String
    /// The screen instance that it is on.
    public let instance: String
    let content: Content
    /// Tells what the person did, which is true however late it arrives; anything else is an intent, and expires.
    let isReport: Bool
    let outcome: Outcome

    enum Content: Sendable {
        case command(any CommandMessage)
        /// A command that only the flow knows: its type, and the fields that a person has given it.
        case named(MessageType, [String: JSONValue])
    }

    /// What there is to see once it has been acted upon; a URL to open counts for each but the last.
    enum Outcome {
        /// Another state of the navigation, or an event that is told in words.
        case navigation
        /// Whatever is published about it: no rule that hears it is known.
        case anything
        case openedURL
        case closedBanner
    }

    init(_ action: ScreenAction, on instance: String, outcome: Outcome) {
        self.init(label: action.label, instance: instance, content: .command(action.command), outcome: outcome)
    }

    init(reporting command: any CommandMessage, on instance: String, label: String, outcome: Outcome = .navigation) {
        self.init(label: label, instance: instance, content: .command(command), isReport: true, outcome: outcome)
    }

    /// A command of which the flow says no more than its type.
    init(_ type: MessageType, on instance: String, outcome: Outcome) {
        self.init(label: type.name, instance: instance, content: .named(type, [:]), outcome: outcome)
    }

    init(closing banner: Banner, on instance: String) {
        self.init(
            label: "Dismiss", instance: instance, content: .command(banner.dismissal), outcome: .closedBanner)
    }

    private init(
        label: String, instance: String, content: Content, isReport: Bool = false, outcome: Outcome
    ) {
        self.label = label
        self.instance = instance
        self.content = content
        self.isReport = isReport
        self.outcome = outcome
    }

    /// The command, if more of it is known than its name.
    public var command: (any CommandMessage)? {
        if case .command(let command) = content { command } else { nil }
    }

    /// The type of the command on the wire.
    public var type: MessageType {
        switch content {
        case .command(let command): Swift.type(of: command).type
        case .named(let type, _): type
        }
    }

    /// Whether a person may give the command fields of their own: only its name is known.
    public var takesFields: Bool { command == nil }

    /// The same with the fields that a person has given; one whose command is known stays as it is.
    public func filled(with fields: [String: JSONValue]) -> Choice {
        guard case .named(let type, _) = content else { return self }
        return Choice(
            label: label, instance: instance, content: .named(type, fields), isReport: isReport, outcome: outcome)
    }

    /// Wraps it for the bus.
    /// - Throws: ``BusError`` if the command cannot be written as JSON.
    func envelope(from identity: DeviceIdentity, lifetime: Duration) throws -> Envelope {
        var envelope: Envelope
        switch content {
        case .command(let command): envelope = try identity.envelope(command, instance: instance)
        case .named(let type, let fields):
            var attributes = Attributes(type: type, source: identity.source, subject: identity.subject)
            attributes.platform = identity.platform
            attributes.device = identity.device
            attributes.instance = instance
            envelope = Envelope(attributes: attributes, data: Data(JSONValue.object(fields).description.utf8))
        }
        if !isReport { envelope.attributes.expire(after: lifetime) }
        return envelope
    }
}
