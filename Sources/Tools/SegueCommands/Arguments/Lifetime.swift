internal import ArgumentParser

/// How long a command is worth acting upon.
package enum Lifetime: Hashable, Sendable, ExpressibleByArgument {
    case unlimited
    case seconds(Double)

    /// Far beyond it, the conversion to a time would trap.
    private static let longest = 366.0 * 86_400

    /// `none`, or a number of seconds above zero, a year at most.
    package init?(argument: String) {
        if argument == "none" {
            self = .unlimited
        } else if let seconds = Double(argument), seconds > 0, seconds <= Self.longest {
            self = .seconds(seconds)
        } else {
            return nil
        }
    }
}
