internal import ArgumentParser
internal import Monitor

/// A word of `--only`.
enum ReplayPart: Hashable, Sendable, FormedArgument {
    static let forms = "inputs, all, or types as in 'command.*'"

    case inputs, all
    case types(MessagePattern)

    init?(argument: String) {
        switch argument {
        case "inputs": self = .inputs
        case "all": self = .all
        default:
            guard let pattern = MessagePattern(argument) else { return nil }
            self = .types(pattern)
        }
    }
}
