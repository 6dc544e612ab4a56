package import Foundation

/// Behind what a monitor ends by itself.
package enum MonitorEnd: Hashable, Sendable {
    case never
    /// The newest message that the journal has when the monitor begins.
    case end
    /// The message at this offset of the journal.
    case offset(UInt64)
    /// What was published up to this time.
    case time(Date)
    /// What was published up to so long ago.
    case ago(Duration)
}
