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
    init?(_ message: Envelope) {
        let attributes = message.attributes
        guard attributes.causationID == nil, message.kind == .command || message.kind == .event else { return nil }
        let process = String(attributes.source.cut(at: "/")?.before ?? attributes.source[...])
        let place = [attributes.platform, attributes.instance].compactMap(\.self)
        actor = place.isEmpty ? process : place.joined(separator: " ")
        let fields = ScalarFields.texts(of: message)
        let named = ([message.type.name] + ScalarFields.words(fields)).joined(separator: " ")
        func value(_ name: String) -> [String] { fields.first { $0.name == name }.map { [$0.text] } ?? [] }
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
}

/// The fields of a message's data that a line can show.
enum ScalarFields {
    /// The maximum number of fields on a line.
    private static let limit = 4
    /// The maximum number of fields of a message that are compared.
    private static let comparedLimit = 64

    /// The texts of strings, numbers and booleans, and the sizes of arrays, by the fields' names. A string with spaces is
    /// in quotation marks. The hash is that of the whole value. Empty for data that is not a JSON object.
    static func texts(of message: Envelope) -> [(name: String, text: String, hash: Int)] {
        guard let members = (try? JSONValue(parsing: message.data))?.objectValue else { return [] }
        return members.sorted { $0.key < $1.key }.prefix(comparedLimit).compactMap { name, value in
            text(of: value).map { (JSONValue.string(name).summary, $0, value.hashValue) }
        }
    }

    /// Nil for a value that is not shown.
    private static func text(of value: JSONValue) -> String? {
        switch value {
        case .null, .object: nil
        case .array(let elements): elements.count == 1 ? "1 item" : "\(elements.count) items"
        case .string(let text) where text.unicodeScalars.contains(" "): "\"\(value.summary)\""
        case .string, .bool, .integer, .number: value.summary
        }
    }

    /// `name=value` for each field.
    static func words(_ fields: [(name: String, text: String, hash: Int)]) -> [String] {
        let shown = fields.prefix(limit).map { "\($0.name)=\($0.text)" }
        return fields.count > limit ? shown + ["…"] : shown
    }
}
