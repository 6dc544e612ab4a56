/// What a supervisor answers.
enum ControlReply: Sendable, Codable {
    case done([Change])
    case refused(ComposeError)
}
