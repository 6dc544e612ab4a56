import Foundation
import Logging

/// One service from its first start to its end, restarts included.
struct ServiceRunner: Sendable {
    let service: Service
    let stack: Stack
    let project: Project
    let board: StatusBoard
    let log: ServiceLog
    let variables: [String: String]
    let options: SupervisorOptions
    let logger: Logger

    var name: String { service.name }
    var awaitsReadiness: Bool { stack.awaitsReadiness(of: service) }

    /// How one run of the process came to its end.
    enum Ending: Sendable {
        case exited(succeeded: Bool, wasReady: Bool)
        /// The supervisor ended it.
        case faulty(Fault, wasReady: Bool)
        /// The stack was asked to stop, before or during the run.
        case stopped
        case failed(ComposeError)
    }

    func run() async {
        guard await dependenciesMet() else { return }
        let patience = startTimeout
        var attempts = 0
        var deadline = ContinuousClock.now + patience
        var wasEverReady = false
        while true {
            let begin = ContinuousClock.now
            // Once it has been ready, later runs each have the whole time: only the first start is the user's wait.
            if wasEverReady { deadline = begin + patience }
            let ending = await runOnce(deadline: deadline)
            switch ending {
            case .exited(_, wasReady: true), .faulty(_, wasReady: true): wasEverReady = true
            default: break
            }
            if begin.duration(to: .now) >= options.backoff.resetAfter { attempts = 0 }
            guard await shouldRestart(after: ending, attempts: attempts, isFirstStart: !wasEverReady) else { return }
            attempts += 1
            board.change(name) { $0.restarts += 1 }
        }
    }

    var startTimeout: Duration {
        switch service.readiness {
        case .notify(let timeout?): timeout
        case .probe(let probe): probe.longestStart
        case .notify(nil), .started: options.startTimeout
        }
    }

    /// Waits for all conditions of `depends_on`.
    ///
    /// - Returns: whether to start.
    private func dependenciesMet() async -> Bool {
        let dependencies = service.dependencies
        let view = await board.first { view in
            let prospects = dependencies.map { view.status[$0.service]?.prospect(of: $0.condition) }
            return view.stop != .none || prospects.contains(.impossible) || prospects.allSatisfy { $0 == .met }
        }
        guard let view, view.stop == .none else { return false }
        let lost = dependencies.first { view.status[$0.service]?.prospect(of: $0.condition) == .impossible }
        guard let lost else { return true }
        let message = "service '\(name)' cannot start: '\(lost.service)' will not reach \(lost.condition.rawValue)"
        board.fail(name, with: ComposeError(code: "dependency-failed", message: message))
        return false
    }
}
