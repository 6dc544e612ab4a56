internal import Compose
internal import Contracts
internal import EventBus

/// Helps with types that were not written as they go over the wire.
enum MessageSpelling {
    /// One line: what is wrong with `text`, and what was probably meant.
    static func advice(on text: String) -> String {
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
