internal import ArgumentParser
internal import Compose
package import Monitor

extension MonitorStart: ExpressibleByArgument {
    /// `now`, `beginning`, `retained`, an offset such as `17`, or how long ago such as `5m`.
    package init?(argument: String) {
        switch argument {
        case "now": self = .now
        case "beginning": self = .beginning
        case "retained": self = .retained
        default:
            if let offset = UInt64(argument) {
                self = .offset(offset)
            } else if let duration = Duration(compose: argument) {
                self = .ago(duration)
            } else {
                return nil
            }
        }
    }

    /// What the help says; no other one is a default.
    package var defaultValueDescription: String { self == .now ? "now" : "\(self)" }
}
