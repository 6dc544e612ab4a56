/// Why a call of a router has changed nothing, as far as it knows.
public enum RouterError: Error, Hashable, Sendable {
    /// The flow does not allow it, or the state does not admit it: there is nothing to pop. The machine's words.
    case refused(String)
    /// The screen that asked is gone. The machine's words.
    case late(String)
    /// Nobody has answered in time, and nobody acts upon the call from now on: is there a coordinator for the platform?
    case unanswered(after: Duration)
    /// The value is no case of an enum, and so no route.
    case noRoute(String)
}

extension RouterError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .refused(let reason), .late(let reason), .noRoute(let reason): reason
        case .unanswered(let deadline): "the platform's coordinator has not answered within \(deadline)"
        }
    }
}
