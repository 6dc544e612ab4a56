package import BusKeys
internal import EventBus
package import ZeroMQ

/// The key of a client, which may be replaced while the client runs.
struct ClientKey {
    let path: String
    private var file: KeyFile

    /// - Throws: ``BusError`` with code `key` if the file cannot be used.
    init(path: String) throws(BusError) {
        self.path = path
        file = try KeyFile(path: path)
    }

    /// The key for messages to people.
    var name: String { "the key of '\(file.name)' in \(path)" }

    /// The session of a device; nil for another process.
    var session: String? { file.session }

    /// The options of a socket that connects with the key.
    var options: [SocketOption] { file.options }

    /// Reads the key file again.
    /// - Returns: True if it has another key now. If it cannot be read, the key stays the same.
    mutating func refresh() -> Bool {
        guard let new = try? KeyFile(path: path), new != file else { return false }
        file = new
        return true
    }
}

extension KeyFile {
    /// The options of a socket that connects with the key.
    package var options: [SocketOption] {
        SocketOption.curveClient(
            publicKey: keys.publicKey.bytes, secretKey: keys.secretKey, serverKey: brokerKey.bytes)
    }
}
