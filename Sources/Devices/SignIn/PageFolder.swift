package import Foundation
internal import Glibc
package import Sodium
internal import Support
internal import SystemSupport

/// The folder of a page's files: the key that signs links and cookies, the address of the gateway, and the links that
/// were used. The gateway and `segue open` share it. Only its owner may read it.
package struct PageFolder: Sendable {
    /// The folder's name in the folder of a project's state.
    private static let name = "web"

    package let path: String

    package init(_ path: String) {
        self.path = path
    }

    /// - Parameter state: The folder of a project's state, as in `SEGUE_STATE_DIR`.
    package init(state: String) {
        self.init("\(state)/\(Self.name)")
    }

    private var keyPath: String { "\(path)/key" }
    private var addressPath: String { "\(path)/address.json" }
    package var usedLinksPath: String { "\(path)/used-links.json" }

    /// Creates the folder if it does not exist.
    package func create() throws(PageFolderError) {
        do {
            try PrivateFolder.make(path)
        } catch {
            throw PageFolderError(error.description)
        }
    }

    // MARK: The key

    /// The key. Nil if there is none yet.
    package func key() throws(PageFolderError) -> HMAC.Key? {
        var status = stat()
        guard stat(keyPath, &status) == 0 else {
            if errno == ENOENT { return nil }
            throw PageFolderError("\(keyPath) cannot be read: \(SystemError(keyPath))")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw PageFolderError("\(keyPath) can be read by other users; remove it, and restart the gateway")
        }
        guard let bytes = FileManager.default.contents(atPath: keyPath), let key = HMAC.Key(bytes) else {
            throw PageFolderError("\(keyPath) is not a key; remove it, and restart the gateway")
        }
        return key
    }

    /// The key. If there is none yet, a new key is stored. Of several processes that do this at the same time, all get
    /// the same key.
    package func makeKey() throws(PageFolderError) -> HMAC.Key {
        try create()
        if let key = try key() { return key }
        let temporary = "\(keyPath).\(getpid()).\(UInt32.random(in: 0 ... .max))"
        do {
            try AtomicFile(temporary).replace(with: HMAC.Key().bytes)
        } catch {
            throw PageFolderError("\(path) cannot be written: \(error)")
        }
        defer { unlink(temporary) }
        // Unlike rename(2), link(2) does not replace a key that another process has stored meanwhile.
        guard link(temporary, keyPath) == 0 || errno == EEXIST else {
            throw PageFolderError("\(keyPath) cannot be written: \(SystemError(keyPath))")
        }
        guard let key = try key() else { throw PageFolderError("\(keyPath) was removed; start again") }
        return key
    }

    // MARK: The address

    /// The address of a running gateway.
    package struct Address: Codable, Hashable, Sendable {
        /// `http://127.0.0.1:PORT`
        package var url: String
        /// The name of the stack, which is part of the cookie's name.
        package var stack: String
        /// The gateway's process.
        package var pid: Int32

        package init(url: String, stack: String, pid: Int32) {
            self.url = url
            self.stack = stack
            self.pid = pid
        }

        /// True if the gateway's process runs. After its end, another user's program could listen on its port, and
        /// would get the secret of a link.
        package var isCurrent: Bool { kill(pid, 0) == 0 }
    }

    /// The address that a gateway has stored last. The gateway may have ended. Nil if there is none.
    package func address() -> Address? {
        FileManager.default.contents(atPath: addressPath).flatMap { try? JSONDecoder().decode(Address.self, from: $0) }
    }

    package func store(_ address: Address) throws(PageFolderError) {
        do {
            try AtomicFile(addressPath).replace(with: try JSONEncoder().encode(address))
        } catch {
            throw PageFolderError("\(addressPath) cannot be written: \(error)")
        }
    }

    // MARK: Links

    /// A URL that leads to a gateway and signs a browser in there: once, and for ``linkSeconds``. It is a secret.
    /// - Parameters:
    ///   - access: The part of the page that the browser may use.
    ///   - view: The part of the page to show, such as `map`, with its parameters. Nil for the part that the page shows
    ///     by itself.
    package func signInURL(
        at address: Address, for access: PageAccess, view: String? = nil, now: Date = Date()
    ) throws(PageFolderError) -> String {
        guard let key = try key() else {
            throw PageFolderError("there is no key in \(path); start the gateway, which makes one")
        }
        let token = SignedToken(
            .link, access: access, stack: address.stack, key: key, lifetime: SignedToken.linkLifetime, now: now)
        return "\(address.url)/sign-in?link=\(token.text)" + (view.map { "&view=\(PercentEncoding.encode($0))" } ?? "")
    }

    /// The maximum length of a view that a link names, in UTF-8. Encoded in a URL, it fits into the headers of a request.
    package static let viewLimit = 8_000

    /// The time for which a link is valid, in seconds.
    package static let linkSeconds = Int(SignedToken.linkLifetime)

    /// Writes an HTML page with a link to a gateway, so that the link is in no list of arguments. Only its owner may
    /// read it.
    /// - Parameters:
    ///   - access: The part of the page that the browser may use.
    ///   - view: The part of the page to show, such as `map`, with its parameters. Nil for the part that the page shows
    ///     by itself.
    ///   - folder: The folder of the page. Nil for this folder.
    /// - Returns: The path of the page.
    package func writeLink(
        to address: Address, for access: PageAccess, view: String? = nil, in folder: String? = nil, now: Date = Date()
    ) throws(PageFolderError) -> String {
        let url = Escape.html(try signInURL(at: address, for: access, view: view, now: now))
        let part = access.session.map { " of the session '\(Escape.html($0))'" } ?? ""
        let page = """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta name="referrer" content="no-referrer">
            <meta http-equiv="refresh" content="0; url=\(url)">
            <title>Segue</title>
            <p><a href="\(url)">Open the page\(part)</a>. The link is valid once, for \(Self.linkSeconds) seconds.</p>
            </html>

            """
        // A browser that opens the file late must not get the link to another session, or an operator's.
        let session = access.session.map { "-" + Base64URL.encode(SHA256.hash(Data($0.utf8)).prefix(12)) } ?? ""
        let file = "\(folder ?? path)/open-\(address.stack)\(session).html"
        do {
            try AtomicFile(file).replace(with: Data(page.utf8), isDurable: false)
        } catch {
            throw PageFolderError("\(file) cannot be written: \(error)")
        }
        return file
    }
}

/// The reason why a page's files cannot be used, in one line.
package struct PageFolderError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
