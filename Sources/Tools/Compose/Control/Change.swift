/// What a request does to one instance.
package struct Change: Sendable, Codable, Equatable {
    package enum Action: String, Sendable, Codable {
        case start, restart, stop, remove
        /// It is as it was asked for.
        case keep
    }

    package let instance: String
    package let action: Action
    /// The ``Order/round`` that it has been asked for by then.
    package let round: Int
    /// Why, where the request itself does not say it.
    package let reason: String?

    /// Whether it leaves the instance without a process.
    var isEnding: Bool { action == .stop || action == .remove }

    package init(instance: String, action: Action, round: Int, reason: String? = nil) {
        self.instance = instance
        self.action = action
        self.round = round
        self.reason = reason
    }
}
