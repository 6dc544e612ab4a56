internal import EventBus
internal import Foundation

/// What a command line says is to be sent.
enum MessageInput {
    case one(MessageDraft)
    /// Lines, as they come; without a type, each says its own.
    case lines(MessageType?, AsyncThrowingStream<[String], any Error>)

    /// A draft of a line.
    /// - Throws: ``CommandError``.
    static func draft(_ line: String, of type: MessageType?) throws(CommandError) -> MessageDraft {
        guard let type else { return try MessageDraft(line: line) }
        do {
            return MessageDraft(type, data: try MessageData.object(line))
        } catch {
            throw CommandError(code: "malformed-line", "\(error)", status: .dataError)
        }
    }
}
