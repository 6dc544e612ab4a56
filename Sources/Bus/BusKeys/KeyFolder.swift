package import EventBus
package import Foundation
internal import Sodium
internal import Support
internal import SystemSupport

/// The folder with the keys of a bus. Beside a lock file, it has:
///
/// - `broker.key`: the broker's own key file;
/// - `keys.json`: the public keys that the broker accepts, which it reads anew when the file changes;
/// - `access.json`, unless the rights of their owners are not checked;
/// - `NAME.key`: the key file of each process, which may be moved to the process's machine.
///
/// Only its owner can enter the folder and read the files.
package struct KeyFolder: Sendable {
    package static let listName = "keys.json"

    package let path: String

    // MARK: Making and opening

    /// Makes the folder, and the broker's key. Missing parents are made, too.
    /// - Throws: ``BusError`` with code `key` if the folder already has keys, or cannot be made.
    package static func create(_ path: String) throws(BusError) -> KeyFolder {
        let folder: PrivateFolder
        do { folder = try PrivateFolder.make(path) } catch { throw Self.error(error) }
        // A `broker.key` alone is that of an `init` that was killed.
        let own = KeyFile.brokerName + KeyFilePlace.suffix
        guard !folder.names.contains(where: { $0 == listName || $0.ends(with: KeyFilePlace.suffix) && $0 != own })
        else {
            throw BusError(
                .key,
                folder.names.contains(listName)
                    ? "\(path) has keys already; add one with 'segue keys add', or choose another folder"
                    : "\(path) has key files, but no \(listName); restore that file, or choose another folder")
        }
        let keys = KeyFolder(path: path)
        let pair = CurveKeyPair()
        try keys.write(KeyFile(name: KeyFile.brokerName, keys: pair, brokerKey: pair.publicKey))
        try keys.write(KnownKeys())
        return keys
    }

    /// The folder of a key file.
    package init(of keyFile: String) {
        let folder = (keyFile as NSString).deletingLastPathComponent
        self.init(path: folder.isEmpty ? "." : folder)
    }

    package init(path: String) {
        self.path = path
    }

    /// The path of the list of the accepted keys.
    package var list: String { "\(path)/\(Self.listName)" }

    // MARK: Reading

    /// The broker's key file.
    /// - Throws: ``BusError`` with code `key`
    package func broker() throws(BusError) -> KeyFile {
        guard try folder().names.contains(Self.listName) else { throw missing }
        return try KeyFile(path: file(of: KeyFile.brokerName))
    }

    /// The keys that the broker accepts.
    /// - Throws: ``BusError`` with code `key`
    package func known() throws(BusError) -> KnownKeys {
        guard let content = try content(of: Self.listName, limit: KnownKeys.fileLimit) else { throw missing }
        return try KnownKeys(content, path: list)
    }

    /// The content of a file of the folder. Nil if there is no such file.
    /// - Throws: ``BusError`` with code `key`, also if the file has more than `limit` bytes.
    package func content(of name: String, limit: Int) throws(BusError) -> Data? {
        let folder = try folder()
        do { return try folder.secret(name, limit: limit) } catch { throw Self.error(error) }
    }

    /// The path of the key file of a name.
    package func file(of name: String) -> String { KeyFilePlace.path(of: name, in: path) }

    private var missing: BusError {
        BusError(.key, "\(path) has no keys of a bus; make them with 'segue keys init'")
    }

    private func folder() throws(BusError) -> PrivateFolder {
        do {
            if let folder = try PrivateFolder.open(path) { return folder }
        } catch {
            throw Self.error(error)
        }
        throw BusError(.key, "there is no folder \(path) with keys; make one with 'segue keys init'")
    }

    // MARK: Changing

    /// Makes a key for one name, and its key file.
    /// - Returns: The path of the key file.
    package func add(
        _ name: String, role: String? = nil, session: String? = nil, until: Date? = nil
    ) throws(BusError) -> String {
        try add([name], role: role, session: session, until: until)[0]
    }

    /// Makes a key for each name, and its key file; or none if a name is refused.
    /// - Parameters:
    ///   - role: The name of the owners' ``KeyRole``; nil for the standard role of each name.
    ///   - session: The session of devices; nil for other roles.
    ///   - until: The time from which the broker refuses the keys; nil for no limit.
    /// - Returns: The paths of the key files.
    /// - Throws: ``BusError`` with code `key` if a name is invalid or has a key, or the role is invalid.
    package func add(
        _ names: [String], role: String? = nil, session: String? = nil, until: Date? = nil
    ) throws(BusError) -> [String] {
        var owners: [(name: String, role: KeyRole)] = []
        for name in names {
            guard ServiceName.isValid(name), name != KeyFile.brokerName else {
                throw BusError(
                    .key, "'\(name.shortened(to: 80))' cannot have a key; \(ServiceName.rule), but not 'broker'")
            }
            do { owners.append((name, try KeyRole(role, session: session, of: name))) } catch {
                throw BusError(.key, error.description)
            }
        }
        return try change { keys throws(BusError) in
            var seen: Set<String> = []
            if let name = names.first(where: { !seen.insert($0).inserted }) {
                throw BusError(.key, "duplicate name '\(name)'; remove one of them")
            }
            if let name = names.first(where: { keys[$0] != nil }) {
                throw BusError(.key, "'\(name)' has a key; replace it with 'segue keys rotate \(name)'")
            }
            guard keys.count + names.count <= KnownKeys.capacity else {
                throw BusError(.key, "a bus has at most \(KnownKeys.capacity) keys; revoke some")
            }
            var paths: [String] = []
            for (name, role) in owners {
                paths.append(try make(name, role: role, until: until, in: &keys))
            }
            return paths
        }
    }

    /// Replaces the key of a name, and its key file. The broker refuses the old key at once. A broker's key file of a
    /// version without nkeys gets one.
    /// - Returns: The path of the key file.
    /// - Throws: ``BusError`` with code `key` if the name has no key, or if it is that of a broker with an nkey.
    package func rotate(_ name: String) throws(BusError) -> String {
        try change { keys throws(BusError) in
            if name == KeyFile.brokerName { return try completeBroker() }
            guard let key = keys[name] else { throw unknown(name, among: keys) }
            guard key.isValid(at: Date()) else {
                throw BusError(.key, "the key of '\(name)' has expired; revoke it, and add another one")
            }
            return try make(name, role: key.role, until: key.until, in: &keys)
        }
    }

    /// Removes the key of a name, and its key file. The broker refuses the key at once.
    /// - Throws: ``BusError`` with code `key` if the name has no key.
    package func revoke(_ name: String) throws(BusError) {
        try change { keys throws(BusError) in
            guard keys[name] != nil else { throw unknown(name, among: keys) }
            keys.remove(name)
            let folder = try folder()
            do { try folder.remove(name + KeyFilePlace.suffix) } catch { throw BusError(.key, "\(error)") }
        }
    }

    /// Adds an nkey to the broker's key file. Its other key stays, because all key files contain it.
    private func completeBroker() throws(BusError) -> String {
        let key = try broker()
        guard key.nkey == nil else {
            throw BusError(
                .key,
                "the broker's key cannot be replaced, because all key files contain it; make other keys with "
                    + "'segue keys init --keys FOLDER'")
        }
        try write(KeyFile(name: key.name, keys: key.keys, brokerKey: key.brokerKey))
        return file(of: key.name)
    }

    private func make(
        _ name: String, role: KeyRole, until: Date?, in keys: inout KnownKeys
    ) throws(BusError) -> String {
        let own = KeyFile(
            name: name, keys: CurveKeyPair(), brokerKey: try broker().keys.publicKey, session: role.session)
        // The key file is written first, so that an owner whose key is known always has a key file.
        try write(own)
        keys.set(
            KnownKey(name: name, publicKey: own.keys.publicKey, role: role, nkey: own.nkey?.publicKey, until: until))
        return file(of: name)
    }

    private func unknown(_ name: String, among keys: KnownKeys) -> BusError {
        let name = name.shortened(to: 80)
        return BusError(
            .key, "'\(name)' has no key in \(path); \(Spelling.advice(for: name, among: keys.list.map(\.name)))")
    }

    /// Reads the list of keys, changes it, and writes it. Only one process at a time does this.
    private func change<Result>(_ body: (inout KnownKeys) throws(BusError) -> Result) throws(BusError) -> Result {
        var keys = try known()
        let lock: FileLock?
        do { lock = try FileLock.acquire("\(path)/lock") } catch { throw BusError(.key, "\(error)") }
        guard let lock else {
            throw BusError(.key, "another program is changing the keys in \(path); try again")
        }
        defer { lock.release() }
        keys = try known()
        let result = try body(&keys)
        try write(keys)
        return result
    }

    private func write(_ file: KeyFile) throws(BusError) {
        try write(to: self.file(of: file.name)) { try file.json }
    }

    private func write(_ keys: KnownKeys) throws(BusError) {
        try write(to: list) { try keys.json }
    }

    /// Replaces a file of the folder, or makes it.
    /// - Throws: ``BusError`` with code `key`, also if there is no such folder.
    package func write(_ name: String, _ content: () throws -> Data) throws(BusError) {
        _ = try folder()
        try write(to: "\(path)/\(name)", content)
    }

    private func write(to path: String, _ content: () throws -> Data) throws(BusError) {
        do {
            try AtomicFile(path).replace(with: content())
        } catch {
            throw BusError(.key, "cannot write \(error)")
        }
    }

    private static func error(_ error: PrivateFolderError) -> BusError {
        BusError(.key, "the folder of keys cannot be used: \(error)")
    }
}
