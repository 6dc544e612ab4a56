/// What one message, one batch and one answer may measure. The broker refuses more; clients check before they send, because
/// a frame beyond `maximumFrameSize` makes libzmq drop the whole connection without a word.
package enum Limits {
    /// Bytes of a subject or a document key.
    package static let nameLength = 255
    package static let headerSize = 64 * 1024
    package static let dataSize = 4 * 1024 * 1024
    package static let maximumFrameSize = 8 * 1024 * 1024
    /// Messages of one atomic batch.
    package static let batchCount = 1024
    /// Filters of one request.
    package static let filterCount = 1024
    /// Messages of one page, and bytes after which a page ends early.
    package static let pageCount = 256
    package static let pageSize = 256 * 1024
    /// Bytes of the reason for a rejection that a client sends; it cuts the rest.
    package static let reasonSize = 4 * 1024
    /// Bytes of header and data that travel on the feed; of a larger message only the position does.
    package static let feedSize = 16 * 1024
    /// Rows looked at for one page, so that a rare topic in a long journal blocks the broker for no longer than this.
    package static let scanCount = 20_000
}
