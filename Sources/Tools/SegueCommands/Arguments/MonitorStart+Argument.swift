internal import ArgumentParser
internal import Compose
internal import EventBus
package import Monitor

extension MonitorStart: FormedArgument {
    package static let forms = "now, beginning, retained, last, \(places)"
    /// Those of a place in the journal.
    static let places = "an offset, a time such as 2026-03-01T12:00:00Z, or how long ago as in 5m"

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
