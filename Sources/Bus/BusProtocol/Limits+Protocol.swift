package import EventBus

/// What requests and answers may measure beside. The broker refuses more; clients check before they send, because a frame
/// beyond `maximumFrameSize` makes libzmq drop the whole connection without a word.
extension Limits {
    package static let maximumFrameSize = 8 * 1024 * 1024
    /// Filters of one request.
    package static let filterCount = 1024
    /// Messages of one page, and bytes after which a page ends early.
    package static let pageCount = 256
    package static let pageSize = 256 * 1024
    /// Bytes of the reason for a rejection that a client sends; it cuts the rest.
    package static let reasonSize = 4 * 1024
    /// Rows looked at for one page, so that a rare topic in a long journal blocks the broker for no longer than this.
    package static let scanCount = 20_000
}
