package import EventBus
internal import Foundation
package import Sodium
internal import Support
internal import SystemSupport

/// The key file of one process on a bus with keys, as JSON: its name, its key pair, and the broker's public key, by
/// which the process recognises the broker. On NATS the process signs in with the file's nkey, which neither encrypts nor
/// recognises the server.
///
/// Only its owner may read the file, and enter its folder. The key file of the broker itself is ``brokerName``.
package struct KeyFile: Hashable, Sendable {
    /// The name of the broker, and of its key file.
    package static let brokerName = "broker"

    package let name: String
    package let keys: CurveKeyPair
    package let brokerKey: CurveKey
    /// The session of a device; nil for other processes. The broker does not rely on it: it is in its list of keys.
    package let session: String?
    /// Nil in the file of a version without nkeys.
    package let nkey: NKey?

    package init(
        name: String, keys: CurveKeyPair, brokerKey: CurveKey, session: String? = nil, nkey: NKey? = NKey()
    ) {
        self.name = name
        self.keys = keys
        self.brokerKey = brokerKey
        self.session = session
        self.nkey = nkey
    }

    /// Reads a key file.
    /// - Throws: ``BusError`` with code `key` if there is no such file, if other users can read it or enter its folder,
    ///   or if it is not a key file. The message never contains a part of the file.
    package init(path: String) throws(BusError) {
        let place = (path as NSString)
        let folder = place.deletingLastPathComponent
        let content: Data?
        do {
            content = try PrivateFolder.open(folder.isEmpty ? "." : folder)?.secret(
                place.lastPathComponent, limit: Self.limit)
        } catch {
            throw BusError(.key, "the key file cannot be used: \(error)")
        }
        guard let content else {
            throw BusError(.key, "there is no key file \(path); make one with 'segue keys add'")
        }
        try self.init(content, path: path)
    }

    private static let limit = 4096

    private struct Content: Codable {
        let name: String
        let publicKey: CurveKey
        let secretKey: String
        let brokerKey: CurveKey
        let session: String?
        let nkeySeed: String?
    }

    /// - Parameter path: For error messages.
    private init(_ json: Data, path: String) throws(BusError) {
        // The errors of the decoder are left out: they could quote the secret key.
        guard let content = try? JSONDecoder().decode(Content.self, from: json), ServiceName.isValid(content.name),
            let keys = CurveKeyPair(secretKey: content.secretKey), keys.publicKey == content.publicKey,
            case let nkey = content.nkeySeed.flatMap(NKey.init(seedIn:)), nkey?.seed == content.nkeySeed
        else {
            throw BusError(.key, "\(path) is not a key file, or it is damaged; make one with 'segue keys add'")
        }
        self.init(
            name: content.name, keys: keys, brokerKey: content.brokerKey, session: content.session, nkey: nkey)
    }

    /// The content of the file.
    var json: Data {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return try encoder.encode(
                Content(
                    name: name, publicKey: keys.publicKey, secretKey: keys.secretText, brokerKey: brokerKey,
                    session: session, nkeySeed: nkey?.seed))
        }
    }
}
