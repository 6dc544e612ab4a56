/// What one number tells of many. None of them may be empty.
enum Statistics {
    /// The middle one, or the mean of the two in the middle.
    static func median(of samples: [Double]) -> Double {
        let sorted = samples.sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }

    /// The least sample that `percent` of all do not exceed (the nearest rank).
    /// - Parameter percent: above 0, at most 100.
    static func percentile(_ percent: Double, of samples: [Double]) -> Double {
        let sorted = samples.sorted()
        let rank = Int((percent / 100 * Double(sorted.count)).rounded(.up))
        return sorted[min(max(rank, 1), sorted.count) - 1]
    }
}
