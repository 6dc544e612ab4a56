internal import ArgumentParser
package import Monitor

extension ReplayPace: ExpressibleByArgument {
    /// `max`, or a number above zero.
    package init?(argument: String) {
        if argument == "max" {
            self = .fastest
        } else if let speed = Double(argument), speed > 0, speed.isFinite {
            self = .speed(speed)
        } else {
            return nil
        }
    }

    package var defaultValueDescription: String {
        switch self {
        case .speed(let speed): "\(speed)"
        case .fastest: "max"
        case .stepwise: "step"
        }
    }
}
