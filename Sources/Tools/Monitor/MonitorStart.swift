package import Foundation

/// Where a monitor begins.
package enum MonitorStart: Hashable, Sendable {
    /// With what is published from now on.
    case now
    /// With the first message that the journal holds.
    case beginning
    /// With the last of each document.
    case retained
    /// With the last message of each type.
    case last
    /// With the message at this offset of the journal.
    case offset(UInt64)
    /// With what was journalled at this time or later.
    case time(Date)
    /// With what was journalled so long ago.
    case ago(Duration)
}
