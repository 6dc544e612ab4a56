internal import EventBus
internal import Support

/// The role of the owner of a key, which decides what it may do on the bus.
package enum KeyRole: Hashable, Sendable {
    /// A person who runs the bus, with tools. May do everything.
    case `operator`
    /// A program that reads everything, and changes nothing.
    case monitor
    /// A service of an app. May do what the access file says under its name.
    case service
    /// A device of one session. May do what the access file says about devices, in this session.
    case device(session: String)

    /// The names of the roles.
    package static let names = ["service", "device", "operator", "monitor"]
    /// The name of the key of a person's tools, whose standard role is ``operator``.
    package static let operatorName = "operator"

    /// The reason why there is no such role, or why the role has no such session. One line.
    package struct Invalid: Error, Hashable, CustomStringConvertible {
        package let description: String
    }

    /// - Parameters:
    ///   - name: The name of the role. Nil for the standard role: `operator` for the key ``operatorName``, else
    ///     `service`.
    ///   - session: The session of a device; nil for the other roles.
    ///   - owner: The name of the key.
    package init(_ name: String?, session: String?, of owner: String) throws(Invalid) {
        let name = name ?? (owner == Self.operatorName ? "operator" : "service")
        switch (name, session) {
        case ("device", let session?):
            if let reason = Session.refusal(of: session) { throw Invalid(description: reason) }
            self = .device(session: session)
        case ("device", nil):
            throw Invalid(description: "a device has a session, the only one that it sees; name it")
        case ("operator", nil): self = .operator
        case ("monitor", nil): self = .monitor
        case ("service", nil): self = .service
        case (_, _?) where Self.names.contains(name):
            throw Invalid(description: "only a device has a session, not the role '\(name)'; leave the session out")
        default:
            throw Invalid(
                description: "there is no role '\(name.shortened(to: 80).onOneLine)'; "
                    + Spelling.advice(for: name.shortened(to: 80), among: Self.names))
        }
    }

    package var name: String {
        switch self {
        case .operator: "operator"
        case .monitor: "monitor"
        case .service: "service"
        case .device: "device"
        }
    }

    /// The only session that the owner of the key sees. Nil for all sessions.
    package var session: String? { if case .device(let session) = self { session } else { nil } }
}
