/// One datagram of sd_notify: lines of `NAME=value`; unknown names are passed over, as sd_notify(3) asks.
package struct NotifyMessage: Sendable, Equatable {
    package private(set) var isReady = false
    private(set) var isStopping = false
    private(set) var status: String?
    /// `WATCHDOG=1`: the service lives.
    private(set) var isHeartbeat = false
    /// `WATCHDOG=trigger`: it has found that it hangs.
    private(set) var isWatchdogTriggered = false
    /// `EXTEND_TIMEOUT_USEC`: from now on it wants so long to become ready.
    private(set) var startExtension: Duration?
    /// Names that begin with `X_`, which sd_notify leaves to its users.
    private(set) var extensions: [String: String] = [:]

    init(_ datagram: [UInt8]) {
        for line in String(decoding: datagram, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            switch (parts[0], parts[1]) {
            case ("READY", "1"): isReady = true
            case ("STOPPING", "1"): isStopping = true
            case ("STATUS", let text): status = String(text)
            case ("WATCHDOG", "1"): isHeartbeat = true
            case ("WATCHDOG", "trigger"): isWatchdogTriggered = true
            case ("EXTEND_TIMEOUT_USEC", let text): startExtension = UInt32(text).map { .microseconds(Int64($0)) }
            case (let name, let value) where name.hasPrefix("X_"): extensions[String(name)] = String(value)
            default: break
            }
        }
    }
}
