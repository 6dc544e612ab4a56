package import BusAccess
package import EventBus
internal import NATSLayout
internal import Support

/// The users of a bus on NATS with the rights that each needs, as a part of the configuration of nats-server.
package struct NATSPermissions: Sendable {
    private let users: [(name: String, rights: ServiceRights)]

    /// - Parameters:
    ///   - steward: The name of the service that is the steward.
    ///   - namespace: The namespace in the address of the bus.
    /// - Throws: ``BusError`` with code `address` if there is no such namespace, `refused` if the name of a service is
    ///   not a ``ServiceName``: it becomes a part of the configuration.
    package init(of access: Access, steward: String, namespace: String) throws(BusError) {
        _ = try NATSAddress("nats://localhost/\(namespace)")
        guard access.services.keys.allSatisfy(ServiceName.isValid) else {
            throw BusError(.refused, "a service has an invalid name; \(ServiceName.rule)")
        }
        let others = access.services.filter { $0.key != steward }.sorted { $0.key < $1.key }
        users =
            [(steward, .steward(namespace: namespace))]
            + others.map { name, entry in
                (
                    name,
                    ServiceRights(
                        sends: entry.publishes.union(entry.asks), serves: entry.serves, consumers: entry.claims,
                        announcements: PlatformAccess.announcements, reports: PlatformAccess.reports,
                        namespace: namespace)
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
