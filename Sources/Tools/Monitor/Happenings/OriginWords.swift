internal import Contracts
internal import EventBus
internal import Support

/// The words for a message with which a person, a tool or a timer begins a story.
struct OriginWords {
    /// The manner in one word: `tap`, `back`, `launch`.
    let manner: String
    /// The platform and the screen, or the tool: `ios list-1`, `segue`.
    let actor: String
    let parts: [String]

    /// Nil if another message has caused this one, or if it can begin no story.
    /// - Parameter template: The template that the contract of the message gives. Nil if there is none.
    init?(_ message: Envelope, _ template: LineTemplate?) {
        let attributes = message.attributes
        guard attributes.causationID == nil, message.kind == .command || message.kind == .event else { return nil }
        let process = String(attributes.source.cut(at: "/")?.before ?? attributes.source[...])
        let place = [attributes.platform, attributes.instance].compactMap(\.self)
        actor = place.isEmpty ? process : place.joined(separator: " ")
        let words = DataWords(message, template)
        let action = message.type == Command.NavigationRequested.type ? Self.action(of: message) : nil
        let named = ([message.type.name] + (action.map { [$0] } ?? words.all)).joined(separator: " ")
        func value(_ name: String) -> [String] { words.fields.first { $0.name == name }.map { [$0.text] } ?? [] }
        switch message.type {
        case Command.BackCompleted.type: (manner, parts) = ("back", [])
        case Command.PresentationDismissed.type: (manner, parts) = ("dismiss", [])
        case Command.AlertAnswered.type: (manner, parts) = ("answer", value("button"))
        case Command.TabSelected.type: (manner, parts) = ("tab", value("tab"))
        case Command.ErrorDismissed.type: (manner, parts) = ("close", ["the error banner"])
        case DomainEvent.LaunchFinished.type: (manner, parts) = ("launch", [])
        case DomainEvent.DeepLinkReceived.type: (manner, parts) = ("link", value("url"))
        case DomainEvent.SessionEnded.type: (manner, parts) = ("end", ["the session"])
        default: (manner, parts) = (attributes.device != nil ? "tap" : process == "segue" ? "send" : "begin", [named])
        }
    }

    /// A requested action: `push item {itemID: 5}`. Nil if it cannot be read.
    private static func action(of message: Envelope) -> String? {
        guard let action = try? JSONValue(parsing: message.data)["action"] else { return nil }
        guard let members = action.objectValue, members.count == 1, let (name, value) = members.first else {
            return action.summary
        }
        let screen = value["screen"].map { [$0, value["arguments"]].compactMap { $0?.summary }.joined(separator: " ") }
        return "\(JSONValue.string(name).summary) \(screen ?? value.summary)"
    }
}
