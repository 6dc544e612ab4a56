/// How a process has ended.
package enum ProcessEnd: Hashable, Sendable {
    case exited(Int32)
    case signalled(Int32)
    /// It never ran.
    case notStarted(String)
}
