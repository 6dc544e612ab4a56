internal import EventBus
package import Foundation
internal import Sodium
internal import Support

/// A public key that the broker accepts, and the name and the role of its owner.
package struct KnownKey: Hashable, Sendable {
    package let name: String
    package let publicKey: CurveKey
    package let role: KeyRole
    /// The public nkey of the owner on NATS. Nil in the entry of a version without nkeys.
    package let nkey: String?
    /// The time from which the broker refuses the key; nil if there is none.
    package let until: Date?

    package func isValid(at time: Date) -> Bool { until.map { time < $0 } ?? true }
}

extension KnownKey: Codable {
    private enum CodingKeys: CodingKey {
        case name, publicKey, role, session, nkey, until
    }

    /// Decodes an entry. One without a role, as older versions write them, has the standard role of its name.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decodeServiceName(forKey: .name)
        publicKey = try container.decode(CurveKey.self, forKey: .publicKey)
        nkey = try container.decodeIfPresent(String.self, forKey: .nkey)
        // It becomes a part of a server's configuration.
        guard nkey.map(NKey.isPublicKey) ?? true else {
            throw DecodingError.dataCorruptedError(
                forKey: .nkey, in: container, debugDescription: "the nkey of a user is 'U' and 55 other characters")
        }
        until = try container.decodeIfPresent(Date.self, forKey: .until)
        do {
            role = try KeyRole(
                container.decodeIfPresent(String.self, forKey: .role),
                session: container.decodeIfPresent(String.self, forKey: .session), of: name)
        } catch let error as KeyRole.Invalid {
            throw DecodingError.dataCorruptedError(forKey: .role, in: container, debugDescription: error.description)
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(publicKey, forKey: .publicKey)
        try container.encode(role.name, forKey: .role)
        try container.encodeIfPresent(role.session, forKey: .session)
        try container.encodeIfPresent(nkey, forKey: .nkey)
        try container.encodeIfPresent(until, forKey: .until)
    }
}

/// The keys that the broker accepts: one for each name, as the file `keys.json` of a ``KeyFolder`` has them.
package struct KnownKeys: Hashable, Sendable {
    /// The maximum number of keys.
    package static let capacity = 10_000
    /// The maximum size of the file in bytes.
    static let fileLimit = 8 * 1024 * 1024

    /// The keys by name.
    private var keys: [String: KnownKey] = [:]
    private var names: [CurveKey: String] = [:]

    package init() {}

    /// The keys in the order of their names.
    package var list: [KnownKey] { keys.values.sorted { $0.name < $1.name } }

    package var count: Int { keys.count }

    package subscript(name: String) -> KnownKey? { keys[name] }

    /// The owner's entry of a public key. Nil if the key is unknown, or no longer valid.
    package func key(_ publicKey: CurveKey, at time: Date) -> KnownKey? {
        guard let key = names[publicKey].flatMap({ keys[$0] }), key.isValid(at: time) else { return nil }
        return key
    }

    /// Adds a key, or replaces the key with the same name.
    mutating func set(_ key: KnownKey) {
        remove(key.name)
        keys[key.name] = key
        names[key.publicKey] = key.name
    }

    mutating func remove(_ name: String) {
        if let key = keys.removeValue(forKey: name) { names[key.publicKey] = nil }
    }

    // MARK: File

    private struct Content: Codable {
        let keys: [KnownKey]
    }

    private static let remedy =
        "restore it from a copy, or make a new folder with 'segue keys init', and new keys for all processes"

    /// - Parameter path: For error messages.
    /// - Throws: ``BusError`` with code `key` if the file is not valid, or two entries have one name or one key.
    init(_ json: Data, path: String) throws(BusError) {
        let content: Content
        do {
            content = try JSONValue(parsing: json).decode(Content.self)
        } catch {
            let reason = (error as? DecodingError)?.summary ?? "\(error)"
            throw BusError(.key, "\(path) is not a list of keys: \(reason.onOneLine); \(Self.remedy)")
        }
        guard content.keys.count <= Self.capacity else {
            throw BusError(
                .key, "\(path) has \(content.keys.count) keys; a bus has at most \(Self.capacity); remove some")
        }
        for key in content.keys {
            guard keys[key.name] == nil, names[key.publicKey] == nil else {
                throw BusError(.key, "\(path): the entry of '\(key.name)' is a duplicate; remove one of them")
            }
            set(key)
        }
    }

    var json: Data {
        get throws {
            Data("\(try JSONValue(encoding: Content(keys: list)))\n".utf8)
        }
    }
}
