internal import Contracts
internal import Coordinator
internal import ErrorNotification
internal import EventBus
package import Navigation
package import ServiceRuntime

/// The programs of the platform that every app runs.
extension ServiceProgram {
    /// The coordinator of a flow.
    /// - Parameters:
    ///   - source: The flow as YAML, for `document.Flow`. Nil if the document is not to be published.
    ///   - liveSessions: The maximum number of sessions in memory. Nil for the usual number.
    ///   - sessionIdle: The time without a message after which a session ends. Nil if sessions do not end by themselves.
    package static func coordinator(
        _ flow: Flow, source: String?, liveSessions: Int? = nil, sessionIdle: Duration? = nil
    ) -> ServiceProgram {
        let sends = flow.sends + (sessionIdle == nil ? [] : [DomainEvent.SessionEnded.type])
        let process = ServiceProcess(
            "navigation-coordinator", receives: flow.receives.map { DeclaredMessage($0, in: flow) },
            sends: sends.map { DeclaredMessage($0, in: flow) }, consumers: [flow.consumer])
        return ServiceProgram(process) { process in
            [
                Coordinator(
                    flow: flow, source: source, liveSessions: liveSessions ?? Coordinator.usualLiveSessions,
                    sessionIdle: sessionIdle, bus: process.bus, logger: process.logger, metrics: process.metrics)
            ]
        }
    }

    /// The program that shows the errors of every session as banners.
    package static var errorNotifier: ServiceProgram {
        let process = ServiceProcess(
            "error-notifier", receives: ErrorNotifier.receives, sends: ErrorNotifier.sends)
        return ServiceProgram(process) { process in
            [ErrorNotifier(bus: process.bus, logger: process.logger, metrics: process.metrics)]
        }
    }
}
