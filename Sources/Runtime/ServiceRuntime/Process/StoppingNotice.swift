internal import ServiceLifecycle

/// Tells the supervisor that the process is about to stop. It is the last of the group, and so the first to hear of it.
struct StoppingNotice: Service {
    let notifier: ServiceNotifier

    func run() async throws {
        try await gracefulShutdown()
        notifier.notify(.stopping)
    }
}
