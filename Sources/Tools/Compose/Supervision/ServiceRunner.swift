import Foundation
import Logging

/// One round of an instance: from its start to its end, restarts by its policy included.
struct ServiceRunner: Sendable {
    /// Of the instance.
    let name: String
    let service: Service
    let awaitsReadiness: Bool
    /// Where a relative working directory starts.
    let directory: String
    let project: Project
    let board: StatusBoard
    let log: ServiceLog
    let variables: [String: String]
    let options: SupervisorOptions
    let logger: Logger

    /// How one run of the process came to its end.
    enum Ending: Sendable {
        case exited(succeeded: Bool, wasReady: Bool)
        /// The supervisor ended it.
        case faulty(Fault, wasReady: Bool)
        /// It was asked to end, before or during the run.
        case stopped
        case failed(ComposeError)
    }

    func run() async {
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
            if begin.duration(to: .now) >= backoff.resetAfter { attempts = 0 }
            guard await shouldRestart(after: ending, attempts: attempts, isFirstStart: !wasEverReady) else { return }
            attempts += 1
            board.change(name) { $0.restarts += 1 }
        }
    }

    var backoff: RestartBackoff { service.backoff ?? options.backoff }

    /// How long its process may take to end when it is asked to.
    var stopGrace: Duration { board.view[name]?.order.grace ?? options.stopGrace ?? service.stopGracePeriod }

    var startTimeout: Duration {
        switch service.readiness {
        case .notify(let timeout?): timeout
        case .probe(let probe): probe.longestStart
        case .notify(nil), .started: options.startTimeout
        }
    }
}
