package import EventBus
internal import NATSLayout
internal import Support

/// The users of a bus on NATS with the rights that each needs, as a part of the configuration of nats-server.
package struct NATSPermissions: Sendable {
    /// What a service, or another program of an app, does on the bus.
    package struct Service: Sendable {
        package let name: String
        package let receives: Set<MessageType>
        package let sends: Set<MessageType>
        /// The durable consumers that it runs.
        package let consumers: Set<String>

        package init(name: String, receives: Set<MessageType>, sends: Set<MessageType>, consumers: Set<String>) {
            self.name = name
            self.receives = receives
            self.sends = sends
            self.consumers = consumers
        }
    }

    private let users: [(name: String, rights: ServiceRights)]

    /// - Parameters:
    ///   - announcements: The types with which every process announces itself.
    ///   - reports: The types that every process sends as transient messages only.
    ///   - steward: The name of the service that is the steward.
    ///   - namespace: The namespace in the address of the bus.
    /// - Throws: ``BusError`` with code `address` if there is no such namespace, `refused` if the name of a service is
    ///   not a ``ServiceName``: it becomes a part of the configuration.
    package init(
        of services: [Service], announcements: [MessageType], reports: [MessageType], steward: String,
        namespace: String
    ) throws(BusError) {
        _ = try NATSAddress("nats://localhost/\(namespace)")
        guard services.allSatisfy({ ServiceName.isValid($0.name) }) else {
            throw BusError(.refused, "a service has an invalid name; \(ServiceName.rule)")
        }
        let others = services.filter { $0.name != steward }.sorted { $0.name < $1.name }
        users =
            [(steward, .steward(namespace: namespace))]
            + others.map { service in
                let serves = service.receives.filter { $0.kind == .query }
                return (
                    service.name,
                    ServiceRights(
                        sends: service.sends, serves: serves, consumers: service.consumers,
                        announcements: announcements, reports: reports, namespace: namespace)
                )
            } + [("tools", .tools(namespace: namespace))]
    }

    /// The configuration. `authorization` has a user for each service, for the steward, and for people's tools.
    /// - Parameter keys: The public nkey of each user. Where there is none, the configuration refers to a variable,
    ///   such as `$MUSIC_SERVICE_NKEY`, which nats-server looks up in its environment.
    package func configuration(keys: [String: String]) -> String {
        let entries = users.map { user in
            let key = keys[user.name] ?? Self.variable(of: user.name)
            return """
                    # \(user.name.onOneLine)
                    {
                      nkey: \(key)
                      permissions: {
                        publish: { allow: [
                \(Self.list(user.rights.publish))
                        ] }
                        subscribe: { allow: [
                \(Self.list(user.rights.subscribe))
                        ] }
                      }
                    }
                """
        }
        return """
            # The users of a bus on NATS, with the least rights that each needs. Written by 'segue export nats-permissions'.
            authorization {
              users: [
            \(entries.joined(separator: "\n"))
              ]
            }

            """
    }

    /// The names of the users.
    package var names: [String] { users.map(\.name) }

    private static func variable(of name: String) -> String {
        "$" + name.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? String($0) : "_" }.joined() + "_NKEY"
    }

    private static func list(_ subjects: [String]) -> String {
        subjects.map { "          \(Escape.natsString($0))" }.joined(separator: "\n")
    }
}
