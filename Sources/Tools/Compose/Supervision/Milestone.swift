/// How far services must have come before whoever starts them goes on.
package enum Milestone: Sendable {
    /// The process of each has been started, after those that it has to wait for.
    case launched
    /// Each runs, and is ready where that is expected.
    case ready
}
