public import ServiceLifecycle

/// A service that a person or a script uses directly, such as one in a terminal: when it returns there is nothing left
/// to do, and the process stops gracefully, with success. Any other service runs until the process is asked to stop,
/// and its early end is a failure.
public protocol ForegroundService: Service {}
