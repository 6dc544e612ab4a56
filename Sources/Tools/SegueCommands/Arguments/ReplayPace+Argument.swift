internal import ArgumentParser
package import Monitor

extension ReplayPace: FormedArgument {
    package static let forms = "max, or a number above zero as in 0.5"

    package init?(argument: String) {
        if argument == "max" {
            self = .fastest
        } else if let speed = Double(argument), speed > 0, speed.isFinite {
            self = .speed(speed)
        } else {
            return nil
        }
    }
}
