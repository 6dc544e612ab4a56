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
    package var selection: Selection
    package var recreation: Recreation
    /// What those are granted that have to end.
    package var grace: Duration?

    package init(
        stack: Stack, selection: Selection = .all, recreation: Recreation = .changed, grace: Duration? = nil
    ) {
        self.stack = stack
        self.selection = selection
        self.recreation = recreation
        self.grace = grace
    }
}
