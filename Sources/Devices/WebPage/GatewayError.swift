/// The reason why the gateway cannot start. The description is one line with the problem and the remedy.
package struct GatewayError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A stable identifier of the error, for programs, such as `gateway.portInUse`.
    package let code: String
    /// The problem.
    package let message: String
    /// The remedy.
    package let recovery: String

    package var description: String { "\(message); \(recovery)" }

    static func portInUse(_ address: String, _ port: Int) -> Self {
        Self(
            code: "gateway.portInUse", message: "port \(port) on \(address) is in use",
            recovery: "choose another with --port or SEGUE_PORT_WEB (0 picks a free one)")
    }

    package static func invalidPort(_ text: String) -> Self {
        Self(
            code: "gateway.invalidPort", message: "SEGUE_PORT_WEB: '\(text)' is not a port",
            recovery: "set it to a number from 0 to 65535, or use --port")
    }

    static func cannotListen(_ address: String, _ port: Int, reason: String) -> Self {
        Self(
            code: "gateway.cannotListen", message: "cannot listen on \(address):\(port): \(reason)",
            recovery: "choose another address with --listen, or another port with --port")
    }

    static func noPage(_ folders: [String]) -> Self {
        Self(
            code: "gateway.noPage", message: "there is no index.html in \(folders.joined(separator: " or "))",
            recovery: "build or install the gateway again, or name the page's folder with --page")
    }

    static func noElement(_ file: String) -> Self {
        Self(
            code: "gateway.noElement", message: "\(file) has no element <html>, which tells a page its session",
            recovery: "write one after the doctype, or name another folder with --page")
    }

    static func largePage(_ folder: String, limit: Int) -> Self {
        Self(
            code: "gateway.largePage", message: "the files in \(folder) are larger than \(limit >> 20) MiB",
            recovery: "remove those that the page does not need")
    }

    static func state(_ reason: String) -> Self {
        Self(
            code: "gateway.state", message: reason,
            recovery: "correct this, or name another folder with --state")
    }

    package static func noToken(_ file: String) -> Self {
        Self(
            code: "gateway.noToken", message: "\(file) cannot be read, or contains no token",
            recovery: "write a token of at least 16 characters into it, or leave out --metrics-token-file")
    }
}
