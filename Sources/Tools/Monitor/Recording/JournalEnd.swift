/// Up to where a journal is read.
package enum JournalEnd: Hashable, Sendable {
    /// Up to its end, as it is when the reading begins.
    case now
    /// Up to this offset, which may be one to come.
    case offset(UInt64)
    /// For so long.
    case after(Duration)
}
