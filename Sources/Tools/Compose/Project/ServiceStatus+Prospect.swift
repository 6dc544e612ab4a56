extension ServiceStatus {
    enum Prospect {
        case met
        case pending
        /// It will not meet the condition unless somebody starts it again.
        case impossible
    }

    /// How it stands with a condition that another service waits for.
    func prospect(of condition: Dependency.Condition) -> Prospect {
        guard order.isWanted else { return .impossible }
        // What an earlier round came to says nothing of the one that was asked for.
        guard round == order.round else { return .pending }
        return switch (condition, state) {
        case (_, .failed): .impossible
        case (.started, _): startedAt == nil ? .pending : .met
        case (.healthy, .ready): .met
        case (.healthy, .exited): .impossible
        case (.completed, .exited): exitCode == 0 ? .met : .impossible
        case (.healthy, _), (.completed, _): .pending
        }
    }
}
