/// The metadata of the journal's stream, by which clients recognize a journal.
package enum JournalMetadata {
    /// The version of the subjects and records that this version of the module uses.
    package static let layout = "1"
    /// The key of the stream's metadata that holds the epoch of the journal: 16 hexadecimal digits.
    package static let epochKey = "segue-epoch"
    /// The key of the stream's metadata that holds the epoch before the current one, if the journal has lost its end.
    package static let previousEpochKey = "segue-previous-epoch"
    /// The key of the stream's metadata that holds ``layout``.
    package static let layoutKey = "segue-layout"
}
