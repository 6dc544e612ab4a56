/// A script that cannot go on.
package struct DeviceFailure: Error, Hashable, CustomStringConvertible {
    /// Stable: `device.timeout`, `device.unreadable`.
    package let code: String
    /// One line: what was awaited, and what was on screen instead; or what is wrong with a line.
    package let message: String

    package var description: String { message }

    static func unreadable(_ message: String) -> DeviceFailure {
        DeviceFailure(code: "device.unreadable", message: message)
    }

    static func timeout(_ message: String) -> DeviceFailure {
        DeviceFailure(code: "device.timeout", message: message)
    }
}
