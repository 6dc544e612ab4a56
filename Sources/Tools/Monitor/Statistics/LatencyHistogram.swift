/// How long messages took, in a room that does not grow: buckets that are as wide as what they hold is large, within 1/32,
/// as HdrHistogram has them. To the microsecond, up to 71 minutes; what took longer counts as that.
package struct LatencyHistogram: Hashable, Sendable {
    /// Buckets for each doubling of the values, as a power of 2.
    private static let precision: UInt32 = 5
    private static let bucketCount = bucket(of: .max) + 1

    package private(set) var count = 0
    private var largest: UInt32 = 0
    private var counts: [Int] = []

    package init() {}

    /// What would have arrived before it was sent has taken no time: clocks differ.
    package mutating func record(_ latency: Duration) {
        let (seconds, attoseconds) = latency.components
        let isLong = seconds > Int64(UInt32.max) / 1_000_000
        let value = isLong ? .max : UInt32(clamping: seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
        // Most messages of a journal have no latency that anybody wants to know.
        if counts.isEmpty { counts = [Int](repeating: 0, count: Self.bucketCount) }
        counts[Self.bucket(of: value)] += 1
        count += 1
        largest = max(largest, value)
    }

    /// The least that so many of a hundred did not exceed, within 1/32; `nil` when there were none.
    package func percentile(_ percent: Double) -> Duration? {
        guard count > 0 else { return nil }
        var left = max(1, Int((Double(count) * min(percent, 100) / 100).rounded(.up)))
        for (bucket, count) in counts.enumerated() {
            left -= count
            if left <= 0 { return .microseconds(min(Self.largest(in: bucket), UInt64(largest))) }
        }
        return .microseconds(largest)
    }

    /// Values below 64 have a bucket each; from there on the five bits behind the first one count.
    private static func bucket(of value: UInt32) -> Int {
        let width = UInt32(UInt32.bitWidth - value.leadingZeroBitCount)
        let shift = width > precision + 1 ? width - precision - 1 : 0
        return Int(shift << precision + value >> shift)
    }

    private static func largest(in bucket: Int) -> UInt64 {
        let shift = max(0, bucket >> Int(precision) - 1)
        return UInt64(bucket - shift << Int(precision) + 1) << UInt64(shift) - 1
    }
}
