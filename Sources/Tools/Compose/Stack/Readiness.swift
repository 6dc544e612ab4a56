/// How a service tells that it can be used.
package enum Readiness: Sendable, Equatable {
    /// It is as good as it gets once its process runs.
    case started
    /// It sends `READY=1` to `$NOTIFY_SOCKET` (sd_notify) within this time, or the supervisor's usual start timeout.
    case notify(timeout: Duration?)
    /// It is asked again and again, as long as it runs.
    case probe(HealthProbe)
}
