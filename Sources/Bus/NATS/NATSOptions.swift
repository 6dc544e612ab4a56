internal import CNATS
internal import Foundation
internal import Sodium
internal import Support
internal import SystemSupport

/// The addresses of NATS servers and the files with the rights of a client.
package struct NATSOptions: Hashable, Sendable {
    /// `nats://host:port` or `tls://host:port`. More than one for a cluster: the client connects to one of them.
    package var servers: [String]
    /// The client's name in the server's monitoring.
    package var name: String
    /// A file with a user's JWT and seed, as `nsc` writes it.
    package var credentialsFile: String?
    /// A file with the seed of a user's nkey (`SU…`).
    package var nkeyFile: String?
    /// The process's key file, which only this user can read. Its nkey is used if there is neither a ``credentialsFile``
    /// nor an ``nkeyFile``.
    package var processKeyFile: String?
    /// A PEM file with the certificates of the authorities that may sign the servers' certificates. Nil for those of
    /// the system.
    package var authorityFile: String?
    /// A PEM file with the client's certificate. Needs ``keyFile``.
    package var certificateFile: String?
    /// A PEM file with the key of the client's certificate.
    package var keyFile: String?

    package init(servers: [String], name: String) {
        self.servers = servers
        self.name = name
    }

    /// Sets the files that the variables of the settings name.
    /// - Parameter variable: Returns the value of a variable; nil or empty if it is not set.
    package mutating func setFiles(_ variable: (String) -> String?) {
        func file(_ name: String) -> String? { variable(name).flatMap { $0.isEmpty ? nil : $0 } }
        credentialsFile = file(KeyFilePlace.credentialsVariable)
        nkeyFile = file(KeyFilePlace.nkeyVariable)
        processKeyFile = file(KeyFilePlace.variable)
        authorityFile = file("SEGUE_BUS_CA")
        certificateFile = file("SEGUE_BUS_CERT")
        keyFile = file("SEGUE_BUS_KEY")
    }

    /// The servers without user names and passwords, for messages.
    package var addresses: String {
        servers.map { server in
            guard let (before, host) = server.cut(atLast: "@"), let (scheme, _) = before.cut(at: "://") else {
                return server
            }
            return "\(scheme)://\(host)"
        }.joined(separator: ",")
    }

    var usesTLS: Bool {
        authorityFile != nil || certificateFile != nil || servers.contains { $0.begins(with: "tls://") }
    }
}

/// The callbacks of a connection. libnats calls them on any thread.
struct LinkCallbacks {
    let closed: natsConnectionHandler
    let error: natsErrHandler
    let attach: natsEvLoop_Attach
    let read: natsEvLoop_ReadAddRemove
    let write: natsEvLoop_WriteAddRemove
    let detach: natsEvLoop_Detach
}

/// The options of libnats for one connection. Belongs to the thread that creates it.
final class LinkOptions {
    let pointer: OpaquePointer
    /// The nkey of the process's key file. libnats signs with it while the link is opened.
    private var nkey: NKey?
    private static let keyFileLimit = 4096

    /// Reads the files, so the calling thread must be one that may wait.
    /// - Parameter context: The argument of the callbacks.
    /// - Throws: ``NATSError`` `invalid`.
    init(_ options: NATSOptions, _ callbacks: LinkCallbacks, context: UnsafeMutableRawPointer) throws(NATSError) {
        var created: OpaquePointer?
        let status = natsOptions_Create(&created)
        guard status == NATS_OK, let created else { throw NATSError(status, "options") }
        pointer = created
        try apply(options)
        try check(natsOptions_SetClosedCB(pointer, callbacks.closed, context), "the close handler")
        try check(natsOptions_SetErrorHandler(pointer, callbacks.error, context), "the error handler")
        if options.usesTLS {
            // Limits the time for which a full socket blocks the thread that writes.
            try check(natsOptions_SetWriteDeadline(pointer, 10_000), "the deadline for writing")
        } else {
            try check(
                natsOptions_SetEventLoop(
                    pointer, context, callbacks.attach, callbacks.read, callbacks.write, callbacks.detach),
                "the event loop")
        }
    }

    deinit {
        natsOptions_Destroy(pointer)
    }

    private func apply(_ options: NATSOptions) throws(NATSError) {
        try setServers(options.servers)
        try check(natsOptions_SetName(pointer, options.name), "the name '\(options.name)'")
        try check(natsOptions_SetTimeout(pointer, 2000), "the timeout for connecting")
        try check(natsOptions_SetAllowReconnect(pointer, false), "the end at a loss")
        // Finds a server that has stopped without closing its connections.
        try check(natsOptions_SetPingInterval(pointer, 5000), "the interval of pings")
        try check(natsOptions_SetMaxPingsOut(pointer, 2), "the number of pings")
        // Without this, a thread of libnats waits for a millisecond for more data before it writes.
        try check(natsOptions_SetSendAsap(pointer, true), "sending at once")
        // The addresses that servers of a cluster announce are often not reachable from outside, and are not in the
        // certificates. The options name all servers.
        try check(natsOptions_SetIgnoreDiscoveredServers(pointer, true), "ignoring announced servers")
        // One thread of libnats delivers the messages that no event loop handles, in the order of their arrival.
        try check(natsOptions_UseGlobalMessageDelivery(pointer, true), "the delivery thread")
        try applyRights(options)
    }

    private func applyRights(_ options: NATSOptions) throws(NATSError) {
        if options.usesTLS { try check(natsOptions_SetSecure(pointer, true), "TLS") }
        if let file = options.authorityFile {
            try check(natsOptions_LoadCATrustedCertificates(pointer, file), "the authorities' certificates in \(file)")
        }
        switch (options.certificateFile, options.keyFile) {
        case (let certificate?, let key?):
            try check(
                natsOptions_LoadCertificatesChain(pointer, certificate, key),
                "the certificate in \(certificate) with the key in \(key)")
        case (nil, nil): break
        default: throw NATSError(.invalid, "a client's certificate needs a key, and a key a certificate; give both")
        }
        if let file = options.credentialsFile {
            try check(natsOptions_SetUserCredentialsFromFiles(pointer, file, nil), "the credentials in \(file)")
        }
        if let file = options.nkeyFile {
            guard let text = try? String(contentsOfFile: file, encoding: .utf8), let key = NKey(seedIn: text)
            else { throw NATSError(.invalid, "\(file) is not a readable file with the seed of a user's nkey (SU…)") }
            try check(natsOptions_SetNKeyFromSeed(pointer, key.publicKey, file), "the nkey in \(file)")
        } else if options.credentialsFile == nil, let file = options.processKeyFile {
            try apply(Self.nkey(inKeyFile: file), of: file)
        }
    }

    private func apply(_ nkey: NKey, of file: String) throws(NATSError) {
        self.nkey = nkey
        let context = Unmanaged.passUnretained(self).toOpaque()
        let sign: natsSignatureHandler = { problem, signature, length, nonce, context in
            guard let context, let nkey = Unmanaged<LinkOptions>.fromOpaque(context).takeUnretainedValue().nkey else {
                return NATS_ERR
            }
            guard let nonce, nonce.pointee != 0 else {
                // libnats frees the text.
                problem?.pointee = strdup("the server has no users with nkeys; give it some, or unset SEGUE_BUS_CURVE")
                return NATS_ERR
            }
            return nats_Sign(nkey.seed, nonce, signature, length)
        }
        try check(natsOptions_SetNKey(pointer, nkey.publicKey, sign, context), "the nkey in \(file)")
    }

    private static func nkey(inKeyFile path: String) throws(NATSError) -> NKey {
        let place = path as NSString
        let folder = place.deletingLastPathComponent
        let content: Data?
        do {
            content = try PrivateFolder.open(folder.isEmpty ? "." : folder)?.secret(
                place.lastPathComponent, limit: keyFileLimit)
        } catch {
            throw NATSError(.invalid, "the key file cannot be used: \(error)")
        }
        guard let content else {
            throw NATSError(.unauthenticated, "there is no key file \(path); make one with 'segue keys add'")
        }
        guard let nkey = NKey(seedIn: String(decoding: content, as: UTF8.self)) else {
            throw NATSError(.invalid, "\(path) has no nkey; replace it with 'segue keys rotate'")
        }
        return nkey
    }

    private func setServers(_ servers: [String]) throws(NATSError) {
        let texts = servers.map { strdup($0) }
        defer { for text in texts { free(text) } }
        var pointers = texts.map { $0.map { UnsafePointer($0) } }
        // libnats copies the texts.
        let status = natsOptions_SetServers(pointer, &pointers, Int32(servers.count))
        try check(status, "the servers' addresses")
    }

    private func check(_ status: natsStatus, _ what: String) throws(NATSError) {
        guard status != NATS_OK else { return }
        let text = natsStatus_GetText(status).map { String(cString: $0) } ?? "status \(status.rawValue)"
        throw NATSError(.invalid, "libnats refuses \(what): \(text)")
    }
}
