package import BusAccess
package import BusKeys
package import EventBus
package import Foundation
internal import NATSLayout
internal import Sodium
internal import Support

/// The users of a bus on NATS with the rights that each needs, as a part of the configuration of nats-server.
package struct NATSPermissions: Sendable {
    private struct User {
        let name: String
        /// The public nkey. Nil if a variable of the server contains it.
        var nkey: String?
        /// The end of its key, which the server does not know. Nil if there is none.
        var until: Date?
        let rights: ServiceRights
    }

    private let users: [User]
    /// The owners of keys and the services that have no user, each with the reason.
    private let others: [(name: String, reason: String)]

    /// The users of the services, the steward and people's tools.
    /// - Parameters:
    ///   - steward: The name of the service that is the steward.
    ///   - namespace: The namespace in the address of the bus.
    /// - Throws: ``BusError`` with code `address` if there is no such namespace, `refused` if the name of a service is
    ///   not a ``ServiceName``: it becomes a part of the configuration.
    package init(of access: Access, steward: String, namespace: String) throws(BusError) {
        try Self.check(access, namespace: namespace)
        let services = access.services.filter { $0.key != steward }.sorted { $0.key < $1.key }
        users =
            [User(name: steward, rights: .steward(namespace: namespace))]
            + services.map { User(name: $0, rights: .service($1, namespace: namespace)) }
            + [User(name: "tools", rights: .tools(namespace: namespace))]
        others = []
    }

    /// The users of the steward and of the owners of keys, by their roles.
    /// - Throws: ``BusError`` as the other initialiser, and with code `key` if the keys cannot be read, or if that of the
    ///   steward has no nkey.
    package init(of access: Access, keys folder: KeyFolder, namespace: String, now: Date = Date()) throws(BusError) {
        try Self.check(access, namespace: namespace)
        let keys = try folder.known()
        guard let steward = try folder.broker().nkey else {
            throw BusError(
                .key, "\(folder.file(of: KeyFile.brokerName)) has no nkey; add one with 'segue keys rotate broker'")
        }
        var users = [
            User(name: KeyFile.brokerName, nkey: steward.publicKey, rights: .steward(namespace: namespace))
        ]
        var others: [(name: String, reason: String)] = []
        for key in keys.list {
            switch Self.rights(of: key, in: access, namespace: namespace, now: now) {
            case .success(let rights):
                users.append(User(name: key.name, nkey: key.nkey, until: key.until, rights: rights))
            case .failure(let reason): others.append((key.name, reason.text))
            }
        }
        for name in access.services.keys.sorted() where keys[name] == nil {
            others.append((name, "has no key; if it is a service, make one with 'segue keys add \(name)'"))
        }
        (self.users, self.others) = (users, others)
    }

    private struct NoUser: Error {
        let text: String
    }

    private static func rights(
        of key: KnownKey, in access: Access, namespace: String, now: Date
    ) -> Result<ServiceRights, NoUser> {
        guard key.isValid(at: now) else { return .failure(NoUser(text: "has a key that has expired")) }
        guard key.nkey != nil else {
            return .failure(NoUser(text: "has no nkey; replace its key with 'segue keys rotate \(key.name)'"))
        }
        switch key.role {
        case .operator: return .success(.tools(namespace: namespace))
        case .monitor:
            return .success(.monitor(asks: PlatformAccess.metricsRequested, namespace: namespace))
        case .service:
            guard let entry = access.services[key.name] else {
                return .failure(NoUser(text: "is not in the contract; add it, or give its key another role"))
            }
            return .success(.service(entry, namespace: namespace))
        case .device:
            return .failure(NoUser(text: "is a device; servers of NATS cannot keep it within its session"))
        }
    }

    private static func check(_ access: Access, namespace: String) throws(BusError) {
        _ = try NATSAddress("nats://localhost/\(namespace)")
        guard access.services.keys.allSatisfy(ServiceName.isValid) else {
            throw BusError(.refused, "a service has an invalid name; \(ServiceName.rule)")
        }
    }

    /// The configuration. `authorization` has the users. A comment says when the key of a user ends: the server accepts
    /// it until it has a configuration without this user.
    /// - Parameter keys: The public nkeys of users, by name, instead of those of their keys. For a user with neither, the
    ///   configuration refers to a variable, such as `$MUSIC_SERVICE_NKEY`, which nats-server looks up in its
    ///   environment.
    package func configuration(keys: [String: String]) -> String {
        let comments = others.map { "    # no user: \($0.name) \($0.reason)\n" }.joined()
        let entries = users.map { user in
            let key = keys[user.name] ?? user.nkey ?? Self.variable(of: user.name)
            let end = user.until.map { "    # until \(Timestamp.text(of: $0)): write this file again then\n" } ?? ""
            return """
                \(end)    # \(user.name.onOneLine)
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
            \(comments)\(entries.joined(separator: "\n"))
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

extension ServiceRights {
    fileprivate static func service(_ entry: AccessEntry, namespace: String) -> ServiceRights {
        ServiceRights(
            sends: entry.publishes.union(entry.asks), serves: entry.serves, consumers: entry.claims,
            announcements: PlatformAccess.announcements, reports: PlatformAccess.reports, namespace: namespace)
    }
}
