public import Foundation

/// Where a subscription begins. In every case nothing is missing and nothing comes twice between past and live.
public enum StartPosition: Hashable, Sendable {
    /// With the first message after the subscription is live.
    case now
    /// With the first message that the journal holds.
    case beginning
    /// Behind this position.
    case after(Position)
    /// With the first message that was journalled at this time or later.
    case since(Date)
    /// With the last of each matching document, then as ``now``.
    case retained
}
