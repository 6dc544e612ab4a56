/// How long messages are kept, as a person writes it: `90s`, `30m`, `12h`, `7d`; `0` or `none` for ever.
package struct RetainedAge: LosslessStringConvertible, Sendable {
    package let duration: Duration?
    package let description: String

    private static let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]

    /// Nil unless it is such a text.
    package init?(_ text: String) {
        description = text
        if text == "0" || text == "none" {
            duration = nil
        } else if let unit = text.last.flatMap({ Self.units[$0] }), let count = Int64(text.dropLast()), count > 0,
            case let (seconds, hasOverflown) = count.multipliedReportingOverflow(by: unit), !hasOverflown,
            seconds < Int64.max / 1000
        {
            duration = .seconds(seconds)
        } else {
            return nil
        }
    }
}
