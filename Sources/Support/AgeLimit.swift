/// The value of an option that limits an age: a number and a unit, such as `90s` or `7d`, of at least a second; or
/// `none` (also `0`) for no limit.
package struct AgeLimit: LosslessStringConvertible, Sendable {
    /// Nil if there is no limit.
    package let duration: Duration?
    package let description: String

    /// Nil if the string has none of these forms.
    package init?(_ text: String) {
        description = text
        if text == "0" || text == "none" {
            duration = nil
        } else {
            guard let duration = Duration(text: text), duration >= .seconds(1) else { return nil }
            self.duration = duration
        }
    }
}
