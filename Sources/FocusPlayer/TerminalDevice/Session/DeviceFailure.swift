/// A script that cannot go on.
package struct DeviceFailure: Error, Hashable, CustomStringConvertible {
    /// Stable: `device.timeout`.
    package let code: String
    /// One line: what was awaited, and what was on screen instead.
    package let message: String

    package var description: String { message }

    static func timeout(_ message: String) -> DeviceFailure {
        DeviceFailure(code: "device.timeout", message: message)
    }
}
