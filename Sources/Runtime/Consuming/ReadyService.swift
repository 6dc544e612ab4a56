public import ServiceLifecycle

/// A service that is not ready as soon as it runs. The process is ready once all of its services are.
public protocol ReadyService: Service {
    /// Signalled by the service's `run()`.
    var ready: ReadySignal { get }
}
