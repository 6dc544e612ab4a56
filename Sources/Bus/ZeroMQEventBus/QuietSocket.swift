/// Counts the seconds in which a socket brings nothing although something was to come. A TCP connection whose other side is gone
/// may stay open for long: then a new one is made.
struct QuietSocket {
    private let limit: Int
    private var count = 0

    init(limit: Int) {
        self.limit = limit
    }

    /// Takes note that something has come.
    mutating func hear() {
        count = 0
    }

    /// - Returns: whether that was once too often; then counting begins anew.
    mutating func miss() -> Bool {
        count += 1
        guard count >= limit else { return false }
        count = 0
        return true
    }
}
