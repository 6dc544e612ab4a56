/// Who sent how much, and how far everybody has come.
package struct StatisticsReport: Encodable, Hashable, Sendable {
    /// One type's messages.
    package struct OfType: Encodable, Hashable, Sendable {
        package let type: String
        /// Since the beginning.
        package let count: Int
        /// Messages per second.
        package let rate: Double
        /// Of the data.
        package let bytesPerSecond: Double
        /// Milliseconds from the publishing to the arrival that half of the messages did not exceed; `nil` when none was
        /// published since the beginning.
        package let p50: Double?
        /// The same of 99 in a hundred.
        package let p99: Double?
        /// How many the feed dropped, and the journal gave back.
        package let recovered: Int
        /// Those up to this offset were removed by retention before they were read; `nil` when none was.
        package let removedThrough: UInt64?
    }

    /// One process, as it last said.
    package struct OfService: Encodable, Hashable, Sendable {
        package let service: String
        package let instance: String
        package let handled: Int
        package let failed: Int
        package let lag: UInt64
    }

    /// The time to which the rates refer.
    package let seconds: Double
    /// The most frequent first.
    package let types: [OfType]
    package let services: [OfService]
    /// Messages that came too late or made no sense, since the beginning.
    package let discarded: Int
}
