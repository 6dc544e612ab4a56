/// How a stack is to become what its file says now.
package struct UpRequest: Sendable, Codable, Equatable {
    /// What happens to an instance that runs already.
    package enum Recreation: String, Sendable, Codable {
        case never
        /// It is restarted if it would be started differently now.
        case changed
        case always
    }

    package var stack: Stack
    /// Services of the same files that take no part, for want of a profile: what of them is there stays as it is.
    package var inactive: Set<String>
    package var selection: Selection
    package var recreation: Recreation
    /// What those are granted that have to end.
    package var grace: Duration?

    package init(
        stack: Stack, inactive: Set<String> = [], selection: Selection = .all, recreation: Recreation = .changed,
        grace: Duration? = nil
    ) {
        self.stack = stack
        self.inactive = inactive
        self.selection = selection
        self.recreation = recreation
        self.grace = grace
    }
}
