public import ServiceLifecycle
public import Support

/// A service that becomes ready some time after it has started. The process is ready when the latches of all services
/// of this kind are open.
public protocol ReadyService: Service {
    /// Opened by the service's `run()` when the service is ready.
    var ready: Latch { get }
}
