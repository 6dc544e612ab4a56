internal import Foundation

/// What the journal knows of a durable consumer.
struct ConsumerRow {
    /// Counts the owners; only the newest may record progress.
    var ownerEpoch: UInt64
    /// What the newest owner claimed with.
    let token: Data
    /// Everything up to here is handled.
    var offset: UInt64
}
