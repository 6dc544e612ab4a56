internal import ArgumentParser
internal import EventBus
internal import Foundation

/// How long a command is worth acting upon.
package enum Lifetime: Hashable, Sendable, ExpressibleByArgument {
    case unlimited
    case seconds(Double)

    /// `none`, or a number of seconds above zero: not so many that no timestamp could hold their end.
    package init?(argument: String) {
        if argument == "none" {
            self = .unlimited
        } else if let seconds = Double(argument), seconds > 0, Timestamp.canHold(Date(timeIntervalSinceNow: seconds)) {
            self = .seconds(seconds)
        } else {
            return nil
        }
    }
}
