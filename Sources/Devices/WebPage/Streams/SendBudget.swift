/// The times at which a stream may send, and the number of bytes. It limits the updates to 60 a second, and the bytes
/// to ``bytesPerSecond`` on average.
struct SendBudget: Sendable {
    /// 512 KiB.
    static let bytesPerSecond = 512 * 1024
    /// The time between two updates.
    static let interval: Duration = .microseconds(16_667)
    /// The number of bytes that a stream may send at once after a pause. A larger update is sent as a whole; the next
    /// update then waits longer.
    static let burst = 128 * 1024

    /// Negative after an update that was larger than the budget.
    private var bytes = Double(burst)
    /// The time up to which `bytes` has grown.
    private var time: Duration = .zero
    private var lastSending: Duration?

    /// The time to wait before the next update. Zero if it may be sent now.
    /// - Parameter now: The time since any fixed instant. It never decreases.
    mutating func wait(at now: Duration) -> Duration {
        refill(at: now)
        let pause = lastSending.map { max(.zero, $0 + Self.interval - now) } ?? .zero
        // A stream in debt waits until an update of a useful size can be sent.
        let missing = bytes >= 0 ? 0 : -bytes
        return max(pause, .seconds(missing / Double(Self.bytesPerSecond)))
    }

    /// The number of bytes that an update should have at most.
    var available: Int { max(Int(bytes), 4096) }

    mutating func spend(_ count: Int, at now: Duration) {
        refill(at: now)
        bytes -= Double(count)
        lastSending = now
    }

    private mutating func refill(at now: Duration) {
        bytes = min(Double(Self.burst), bytes + (now - time) / .seconds(1) * Double(Self.bytesPerSecond))
        time = max(time, now)
    }
}
