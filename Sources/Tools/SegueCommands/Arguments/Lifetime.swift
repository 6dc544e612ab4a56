internal import ArgumentParser

/// How long a command is worth acting upon.
package enum Lifetime: Hashable, Sendable, ExpressibleByArgument {
    case unlimited
    case seconds(Double)

    /// `none`, or a number of seconds above zero.
    package init?(argument: String) {
        if argument == "none" {
            self = .unlimited
        } else if let seconds = Double(argument), seconds > 0, seconds.isFinite {
            self = .seconds(seconds)
        } else {
            return nil
        }
    }
}
