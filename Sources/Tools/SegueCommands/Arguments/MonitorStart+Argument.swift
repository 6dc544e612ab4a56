internal import ArgumentParser
internal import Compose
internal import EventBus
package import Monitor

extension MonitorStart: ExpressibleByArgument {
    /// `now`, `beginning`, `retained`, `last`, an offset such as `17`, a time such as `2026-03-01T12:00:00Z`, or how long
    /// ago such as `5m`.
    package init?(argument: String) {
        switch argument {
        case "now": self = .now
        case "beginning": self = .beginning
        case "retained": self = .retained
        case "last": self = .last
        default:
            if let offset = UInt64(argument) {
                self = .offset(offset)
            } else if let time = Timestamp.date(from: argument) {
                self = .time(time)
            } else if let duration = Duration(compose: argument) {
                self = .ago(duration)
            } else {
                return nil
            }
        }
    }
}
