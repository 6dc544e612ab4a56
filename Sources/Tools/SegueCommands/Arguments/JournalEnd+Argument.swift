internal import ArgumentParser
internal import Compose
package import Monitor

extension JournalEnd: ExpressibleByArgument {
    /// `now`, an offset such as `17`, or for how long such as `30s`.
    package init?(argument: String) {
        if argument == "now" {
            self = .now
        } else if let offset = UInt64(argument) {
            self = .offset(offset)
        } else if let duration = Duration(compose: argument) {
            self = .after(duration)
        } else {
            return nil
        }
    }
}
