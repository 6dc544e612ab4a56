import Foundation

extension StatusBoard {
    /// Marks a service as starting, unless the stack has been asked to stop.
    ///
    /// - Returns: whether it may start. From then on those it depends on wait for it when they stop.
    func claimStart(of service: String) -> Bool {
        update { view in
            guard view.stop == .none else { return false }
            view.status.change(service) { $0.state = .starting }
            return true
        }
    }

    func change(_ service: String, _ change: (inout ServiceStatus) -> Void) {
        update { $0.status.change(service, change) }
    }

    /// Marks a service as failed; while the stack is still being brought up, that is the end of it all.
    func fail(_ service: String, with error: ComposeError) {
        update { view in
            view.status.change(service) {
                $0.state = .failed
                $0.message = error.message
            }
            guard view.status.phase == .starting, view.failure == nil else { return }
            view.failure = error
            view.stop = max(view.stop, .orderly)
        }
    }
}

extension ProjectStatus {
    mutating func change(_ service: String, _ change: (inout ServiceStatus) -> Void) {
        guard let index = services.firstIndex(where: { $0.service == service }) else { return }
        change(&services[index])
    }
}
