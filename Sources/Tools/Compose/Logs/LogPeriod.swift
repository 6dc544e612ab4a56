package import Foundation

/// From when and until when lines are wanted, both included.
package struct LogPeriod: Sendable, Equatable {
    package var since: Date?
    package var until: Date?

    package init(since: Date? = nil, until: Date? = nil) {
        self.since = since
        self.until = until
    }

    /// As it is compared with the times in files.
    var bounds: (since: [UInt8]?, until: [UInt8]?) { (since.map(LogRecord.time), until.map(LogRecord.time)) }
}
