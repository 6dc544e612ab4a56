import Foundation

extension StatusBoard {
    /// Begins the round that an instance was asked for, if it may still start.
    ///
    /// - Returns: what to start. From then on those it depends on wait for it when they stop.
    func claimRound(of instance: String) -> Service? {
        update { roster in
            guard case .start = roster.nextStep(of: instance), let status = roster[instance],
                let service = roster.definition(of: status)
            else { return nil }
            roster.definitions[instance] = service
            let awaitsReadiness = roster.stack.awaitsReadiness(of: service)
            roster[instance] = ServiceStatus(beginning: status, awaitsReadiness: awaitsReadiness)
            return service
        }
    }

    /// Marks an instance as starting once more within its round, unless it has been asked to end.
    func claimStart(of instance: String) -> Bool {
        update { roster in
            guard !roster.isToEnd(instance) else { return false }
            roster.change(instance) { $0.state = .starting }
            return true
        }
    }

    func change(_ instance: String, _ change: (inout ServiceStatus) -> Void) {
        update { $0.change(instance, change) }
    }

    /// The instance has ended, and stays so unless it has been asked for anew.
    func settle(_ instance: String) {
        update { roster in
            let isAskedFor =
                roster.stop == .none && roster[instance]?.order.isWanted == true && roster.isToEnd(instance)
            roster.change(instance) { $0.state = isAskedFor ? .restarting : .exited }
        }
    }

    /// Marks an instance as failed; while the stack is still being brought up, that is the end of it all.
    func fail(_ instance: String, with error: ComposeError) {
        update { $0.fail(instance, with: error) }
    }

    /// Marks an instance as failed that cannot be started, unless something has changed meanwhile.
    func refuseRound(of instance: String) {
        update { roster in
            guard case .refuse(let error) = roster.nextStep(of: instance) else { return }
            roster.change(instance) { $0.round = $0.order.round }
            roster.fail(instance, with: error)
        }
    }

    /// Takes an instance off the board that was removed and has ended; on a stop of all it stays there for all to see.
    ///
    /// - Returns: whether its keeper may go.
    func dismiss(_ instance: String) -> Bool {
        update { roster in
            guard case .leave = roster.nextStep(of: instance) else { return false }
            guard roster[instance]?.order.isRemoved == true else { return true }
            roster[instance] = nil
            roster.definitions[instance] = nil
            roster.kept.remove(instance)
            return true
        }
    }
}

extension Roster {
    mutating func fail(_ instance: String, with error: ComposeError) {
        change(instance) {
            $0.state = .failed
            ($0.message, $0.failure) = (error.message, error)
        }
        if status.phase == .starting { giveUp(because: error) }
    }

    mutating func giveUp(because error: ComposeError) {
        guard failure == nil, stop == .none else { return }
        failure = error
        stop = .orderly
    }
}

extension ServiceStatus {
    /// The status at the beginning of the round that was asked for: nothing of an earlier one shows but its restarts.
    fileprivate init(beginning previous: ServiceStatus, awaitsReadiness: Bool) {
        self.init(name: previous.name, service: previous.service, replica: previous.replica)
        order = previous.order
        round = order.round
        order.begin()
        restarts = previous.restarts
        state = .starting
        self.awaitsReadiness = awaitsReadiness
    }
}
