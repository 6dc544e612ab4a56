public import ServiceLifecycle

/// A service whose actor has a thread of its own. A process whose supervisor watches it counts as alive only while that
/// thread answers.
public protocol ThreadedService: Service {
    associatedtype Owner: Actor

    /// The actor that lives on the thread.
    var owner: Owner { get }
}
