extension Project {
    /// Waits until changes that a supervisor was asked for have come about.
    ///
    /// - Parameters:
    ///   - milestone: how far those must have come that are started.
    ///   - onOutcome: hears of each instance when it has come to something.
    /// - Throws: ``ComposeError``: the first thing that did not come about; `supervisor-ended`.
    package func follow(
        _ changes: [Change], until milestone: Milestone = .ready, onOutcome: (ServiceStatus) async -> Void = { _ in }
    ) async throws {
        var open = changes
        var failure: ComposeError?
        var wasOrderly = false
        for try await status in try statuses() {
            wasOrderly = status.phase == .stopped
            var pending: [Change] = []
            for change in open {
                let outcome = status.outcome(of: change, until: milestone)
                if outcome == .pending { pending.append(change) }
                if outcome == .reached, let instance = status[change.instance] { await onOutcome(instance) }
                failure = failure ?? outcome.error
            }
            open = pending
            if open.isEmpty { break }
        }
        if let failure { throw failure }
        try Task.checkCancellation()
        // With an orderly end of all, what should have ended has.
        guard let left = open.first(where: { !wasOrderly || !$0.isEnding }) else { return }
        throw ended(before: left.instance, was: left.isEnding ? "had ended" : "was up")
    }

    /// Waits until instances are up.
    ///
    /// - Throws: as ``follow(_:onOutcome:)``.
    package func waitUntilUp(_ instances: [String]) async throws {
        try await follow(instances.map { Change(instance: $0, action: .keep, round: 0, reason: nil) })
    }

    /// Waits until instances have ended for good, or one of them.
    ///
    /// - Parameter onEnd: hears of each that has ended.
    /// - Returns: the first that ended.
    /// - Throws: ``ComposeError`` `supervisor-ended`.
    package func waitUntilEnded(
        _ instances: [String], all: Bool, onEnd: (ServiceStatus) async throws -> Void
    ) async throws -> ServiceStatus? {
        var open = instances
        var first: ServiceStatus?
        for try await status in try statuses() {
            for ended in status.services.filter({ open.contains($0.name) && $0.hasEnded }) {
                try await onEnd(ended)
                first = first ?? ended
            }
            open.removeAll { status[$0]?.hasEnded ?? true }
            if open.isEmpty || (first != nil && !all) { return first }
        }
        try Task.checkCancellation()
        throw ended(before: open.first ?? "", was: "was seen to end")
    }

    private func ended(before instance: String, was event: String) -> ComposeError {
        ComposeError(
            code: "supervisor-ended",
            message: "the supervisor of project '\(name)' ended before '\(instance)' \(event)",
            recovery: "its log is \(supervisorLogPath)")
    }
}

extension Outcome {
    fileprivate var error: ComposeError? {
        switch self {
        case .pending, .reached: nil
        case .overtaken(let reason): ComposeError(code: "overtaken", message: reason)
        case .failed(let error): error
        }
    }
}
