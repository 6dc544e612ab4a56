package import BusKeys
package import EventBus
internal import Foundation
internal import Support

extension KeyFolder {
    /// The name of the file with the rights of services and devices.
    package static let accessName = "access.json"
    /// The maximum size of the file in bytes.
    private static let accessLimit = 8 * 1024 * 1024

    /// What services and devices may do. Nil if there is no such file: then rights are not checked.
    /// - Throws: ``BusError`` with code `key` if the file is damaged, or if other users can read it.
    package func access() throws(BusError) -> Access? {
        guard let json = try content(of: Self.accessName, limit: Self.accessLimit) else { return nil }
        do {
            let access = try JSONValue(parsing: json).decode(Access.self)
            guard access.services.count <= KnownKeys.capacity else {
                throw BusError(.key, "it has more than \(KnownKeys.capacity) services")
            }
            return access
        } catch {
            let reason = (error as? DecodingError)?.summary ?? (error as? BusError)?.message ?? "\(error)"
            throw BusError(
                .key,
                "\(path)/\(Self.accessName) is not an access file: \(reason.onOneLine); "
                    + "write it anew with 'segue access --write'")
        }
    }

    /// Writes the access file.
    /// - Returns: The path of the file.
    /// - Throws: ``BusError`` with code `key`
    package func write(_ access: Access) throws(BusError) -> String {
        try write(Self.accessName) {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return try encoder.encode(access) + Data("\n".utf8)
        }
        return "\(path)/\(Self.accessName)"
    }
}

extension Access: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case services, devices
    }

    /// - Throws: `DecodingError`, also if a member is unknown, or if a name or a type is invalid.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(of: CodingKeys.self)
        services = try members.decode([String: AccessEntry].self, forKey: .services)
        if let name = services.keys.first(where: { !ServiceName.isValid($0) }) {
            throw DecodingError.dataCorruptedError(
                forKey: .services, in: members,
                debugDescription: "'\(name.shortened(to: 80))' is not the name of a service; \(ServiceName.rule)")
        }
        devices = try members.decodeIfPresent(AccessEntry.self, forKey: .devices) ?? AccessEntry()
        guard devices.claims.isEmpty, devices.serves.isEmpty else {
            throw DecodingError.dataCorruptedError(
                forKey: .devices, in: members, debugDescription: "devices claim no consumers, and serve no queries")
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(services, forKey: .services)
        try container.encode(devices, forKey: .devices)
    }
}

extension AccessEntry: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case publishes, reads, claims, serves, asks
    }

    /// The maximum number of elements of a member.
    static let capacity = 10_000

    /// A member that is missing allows nothing.
    /// - Throws: `DecodingError`, also if a member is unknown, or if a type or the name of a consumer is invalid.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(of: CodingKeys.self)
        func elements<Element: Decodable & Hashable>(
            _ key: CodingKeys, _ reason: String, _ isValid: (Element) -> Bool
        ) throws -> Set<Element> {
            let elements = try members.decodeIfPresent([Element].self, forKey: key) ?? []
            guard elements.count <= Self.capacity, elements.allSatisfy(isValid) else {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: members,
                    debugDescription: elements.count <= Self.capacity
                        ? reason : "there are more than \(Self.capacity) elements")
            }
            return Set(elements)
        }
        let noQueries = "queries belong to 'asks' and 'serves'"
        let queries = "only queries belong here"
        self.init()
        publishes = try elements(.publishes, noQueries) { (type: MessageType) in type.kind != .query }
        reads = try elements(.reads, noQueries) { (type: MessageType) in type.kind != .query }
        claims = try elements(.claims, "the name of a consumer is invalid") { (name: String) in
            do { try Rules.checkConsumer(name) } catch { return false }
            return true
        }
        serves = try elements(.serves, queries) { (type: MessageType) in type.kind == .query }
        asks = try elements(.asks, queries) { (type: MessageType) in type.kind == .query }
    }

    /// Each member is sorted, so that equal entries have equal texts.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(publishes.sorted, forKey: .publishes)
        try container.encode(reads.sorted, forKey: .reads)
        try container.encode(claims.sorted(), forKey: .claims)
        try container.encode(serves.sorted, forKey: .serves)
        try container.encode(asks.sorted, forKey: .asks)
    }
}

extension Set<MessageType> {
    /// The names of the types in alphabetical order.
    package var sorted: [String] { map(\.description).sorted() }
}

extension Decoder {
    /// The members of an object that has no others than these.
    fileprivate func container<Key: CodingKey & CaseIterable>(
        of type: Key.Type
    ) throws -> KeyedDecodingContainer<Key> {
        let known = Key.allCases.map(\.stringValue)
        let names = try container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
        if let name = names.first(where: { !known.contains($0) })?.shortened(to: 80) {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: codingPath,
                    debugDescription: "there is no member '\(name)'; \(Spelling.advice(for: name, among: known))"))
        }
        return try container(keyedBy: type)
    }
}

private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
