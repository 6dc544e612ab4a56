/// The rule for the names of services and the ids of their processes. Such a name becomes a part of paths, of unit files
/// and of the configuration of a server, so it has no characters with a meaning there.
package enum ServiceName {
    package static let maximumLength = 200
    package static let rule = "use letters, digits, '.', '_' and '-', beginning with a letter or digit"

    /// True if the name consists of ASCII letters, digits, `.`, `_` and `-`, begins with a letter or digit, and has at
    /// most ``maximumLength`` bytes.
    package static func isValid(_ name: String) -> Bool {
        guard let first = name.utf8.first, isLetterOrDigit(first), name.utf8.count <= maximumLength else {
            return false
        }
        return name.utf8.allSatisfy { isLetterOrDigit($0) || [0x2D, 0x2E, 0x5F].contains($0) }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
    }
}

extension KeyedDecodingContainer {
    /// Decodes the name of a service, or the id of one of its processes.
    /// - Throws: `DecodingError` if it is not a ``ServiceName``.
    package func decodeServiceName(forKey key: Key) throws -> String {
        let name = try decode(String.self, forKey: key)
        guard ServiceName.isValid(name) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "'\(name.prefix(80))' is not a name; \(ServiceName.rule)")
        }
        return name
    }
}
