/// A histogram of latencies with a fixed size. In a bucket, the largest value exceeds the smallest by less than 1/32 of
/// the smallest. Values are in microseconds; a latency above 71 minutes counts as 71 minutes.
package struct LatencyHistogram: Hashable, Sendable {
    /// The binary logarithm of the number of buckets for each doubling of the values.
    private static let precision: UInt32 = 5
    private static let bucketCount = bucket(of: .max) + 1

    package private(set) var count = 0
    private var largest: UInt32 = 0
    private var counts: [Int] = []

    package init() {}

    /// Adds a latency. A negative latency counts as zero.
    package mutating func record(_ latency: Duration) {
        let (seconds, attoseconds) = latency.components
        let isLong = seconds > Int64(UInt32.max) / 1_000_000
        let value = isLong ? .max : UInt32(clamping: seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
        // The buckets are allocated with the first latency.
        if counts.isEmpty { counts = [Int](repeating: 0, count: Self.bucketCount) }
        counts[Self.bucket(of: value)] += 1
        count += 1
        largest = max(largest, value)
    }

    /// The smallest latency that `percent` of the latencies do not exceed. The result is at most 1/32 too large. Nil if
    /// there are no latencies.
    package func percentile(_ percent: Double) -> Duration? {
        guard count > 0 else { return nil }
        var left = max(1, Int((Double(count) * min(percent, 100) / 100).rounded(.up)))
        for (bucket, count) in counts.enumerated() {
            left -= count
            if left <= 0 { return .microseconds(min(Self.largest(in: bucket), UInt64(largest))) }
        }
        return .microseconds(largest)
    }

    /// The bucket of a value. Each value below 64 has its own bucket. The bucket of a larger value depends on its
    /// highest set bit and the five bits after it.
    private static func bucket(of value: UInt32) -> Int {
        let width = UInt32(UInt32.bitWidth - value.leadingZeroBitCount)
        let shift = width > precision + 1 ? width - precision - 1 : 0
        return Int(shift << precision + value >> shift)
    }

    /// The largest value of a bucket.
    private static func largest(in bucket: Int) -> UInt64 {
        let shift = max(0, bucket >> Int(precision) - 1)
        return UInt64(bucket - shift << Int(precision) + 1) << UInt64(shift) - 1
    }
}
