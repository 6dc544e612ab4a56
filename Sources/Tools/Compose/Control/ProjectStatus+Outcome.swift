/// How far something is that was asked for.
package enum Outcome: Sendable, Equatable {
    case pending
    case reached
    /// Somebody else has asked for something that excludes it.
    case overtaken(String)
    case failed(ComposeError)
}

extension ProjectStatus {
    /// How far a change is: one that starts an instance is done when that has reached a milestone, others when there is
    /// no process left.
    package func outcome(of change: Change, until milestone: Milestone = .ready) -> Outcome {
        guard let instance = self[change.instance] else {
            return change.action == .remove ? .reached : .overtaken("'\(change.instance)' was removed meanwhile")
        }
        let isWanted = instance.order.isWanted
        switch change.action {
        case .stop, .remove:
            if isWanted { return .overtaken("'\(change.instance)' was started again meanwhile") }
            // One that was removed has its process behind it when it is off the list.
            return instance.isActive || change.action == .remove ? .pending : .reached
        case .keep where !isWanted:
            return .reached
        case .start, .restart, .keep:
            if !isWanted { return .overtaken("'\(change.instance)' was stopped meanwhile") }
            if instance.round < change.round { return .pending }
            if let failure = instance.failure { return .failed(failure) }
            return instance.hasReached(milestone) ? .reached : .pending
        }
    }
}
