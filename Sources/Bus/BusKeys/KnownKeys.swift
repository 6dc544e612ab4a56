internal import EventBus
package import Foundation
internal import Support

/// A public key that the broker accepts, and the name of its owner.
package struct KnownKey: Hashable, Sendable, Codable {
    package let name: String
    package let publicKey: CurveKey
    /// The time from which the broker refuses the key; nil if there is none.
    package let until: Date?

    package func isValid(at time: Date) -> Bool { until.map { time < $0 } ?? true }
}

/// The keys that the broker accepts: one for each name, as the file `keys.json` of a ``KeyFolder`` has them.
package struct KnownKeys: Hashable, Sendable {
    /// The maximum number of keys.
    package static let capacity = 10_000
    /// The maximum size of the file in bytes.
    static let fileLimit = 4 * 1024 * 1024

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

    /// - Parameter path: For error messages.
    /// - Throws: ``BusError`` with code `key` if the file is not valid, or two entries have one name or one key.
    init(_ json: Data, path: String) throws(BusError) {
        let content: Content
        do {
            content = try JSONValue(parsing: json).decode(Content.self)
        } catch {
            let reason = (error as? DecodingError)?.summary ?? "\(error)"
            throw BusError(.key, "\(path) is not a list of keys: \(reason)")
        }
        guard content.keys.count <= Self.capacity else {
            throw BusError(.key, "\(path) has \(content.keys.count) keys; a bus has at most \(Self.capacity)")
        }
        for key in content.keys {
            guard ServiceName.isValid(key.name), keys[key.name] == nil, names[key.publicKey] == nil else {
                throw BusError(.key, "\(path): the entry of '\(key.name.shortened(to: 80))' is invalid, or a duplicate")
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
