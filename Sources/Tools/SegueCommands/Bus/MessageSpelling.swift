internal import ArgumentParser
internal import Compose
internal import Contracts
internal import EventBus

/// Helps with types that were not written as they go over the wire.
enum MessageSpelling {
    /// The type of a message that can be published.
    /// - Throws: `ValidationError` that suggests the right spelling.
    static func type(_ text: String) throws(ValidationError) -> MessageType {
        guard let type = MessageType(text) else { throw ValidationError(advice(on: text)) }
        guard type.kind != .query else {
            throw ValidationError("\(type) is a question, which cannot be published; use 'segue ask'")
        }
        return type
    }

    /// One line: what is wrong with `text`, and what was probably meant.
    private static func advice(on text: String) -> String {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let kinds = MessageKind.allCases.map(\.rawValue)
        let meant: String? =
            if parts.count == 1 {
                "\(kind(ofName: text)).\(text)"
            } else {
                parts[0].lowercased().nearest(of: kinds).map { "\($0).\(parts[1])" }
            }
        let problem = "'\(text)' is not a message type"
        guard let meant, MessageType(meant) != nil else {
            return "\(problem) such as command.PlaylistSelected; a type begins with \(kinds.joined(separator: ", "))"
        }
        return "\(problem); did you mean \(meant)?"
    }

    private static func kind(ofName name: String) -> MessageKind {
        switch name {
        case ApplicationError.name: .error
        case DomainEvent.LaunchFinished.name, DomainEvent.DeepLinkReceived.name: .event
        default: .command
        }
    }
}
