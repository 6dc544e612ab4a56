import Foundation
import NATS
import NATSTestSupport
import Subprocess
import SystemPackage
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2)))
struct RightsTests {
    /// A folder with certificates of a new authority for `localhost` and for a client, and the seed of a user.
    private struct Keys {
        let folder: ScratchFolder
        let user: String

        init() async throws {
            folder = try ScratchFolder()
            let seed = NKey.seed((0..<32).map { _ in UInt8.random(in: 0...255) })
            user = try #require(NKey.publicKey(seed: seed))
            try "# a comment\n\(seed)\n".write(toFile: folder.path("user.nk"), atomically: true, encoding: .utf8)
            let script = """
                set -e
                cd "$1"
                openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem \
                    -days 2 -subj /CN=authority
                for name in server client; do
                    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $name.key -out $name.csr \
                        -subj /CN=$name
                    echo subjectAltName=DNS:localhost >$name.ext
                    openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 \
                        -extfile $name.ext -out $name.pem
                done
                """
            let result = try await Subprocess.run(
                .path("/bin/sh"), arguments: ["-c", script, "sh", folder.path], output: .discarded,
                error: .string(limit: 1 << 16))
            guard case .exited(0) = result.terminationStatus else {
                throw Unexpected(description: result.standardError)
            }
        }

        var settings: String {
            """
            tls {
              cert_file: "\(folder.path("server.pem"))", key_file: "\(folder.path("server.key"))"
              ca_file: "\(folder.path("ca.pem"))", verify: true
            }
            authorization {
              users: [ { nkey: \(user), permissions: {
                publish: ["allowed.>", "_INBOX.>", "$SYS.REQ.USER.INFO"], subscribe: ["allowed.>", "_INBOX.>"]
              } } ]
            }
            """
        }

        func options(_ server: NATSServer) -> NATSOptions {
            var options = NATSOptions(servers: ["tls://localhost:\(server.port)"], name: "test")
            options.authorityFile = folder.path("ca.pem")
            options.certificateFile = folder.path("client.pem")
            options.keyFile = folder.path("client.key")
            options.nkeyFile = folder.path("user.nk")
            return options
        }
    }

    private func withKeys(_ body: @escaping @Sendable (Keys, NATSServer) async throws -> Void) async throws {
        let keys = try await Keys()
        defer { keys.folder.remove() }
        try await NATSServer(settings: keys.settings).whileRunning { try await body(keys, $0) }
    }

    @Test func `A user with an nkey may do over TLS what it has a right to, and learns what not`() async throws {
        try await withKeys { keys, server in
            try await withConnection(keys.options(server)) { connection in
                try await connection.waitUntilConnected(timeout: .seconds(30))
                try await connection.withSubscription(to: "allowed.a") { subscription in
                    // The server does not answer a message that is not permitted, and closes nothing.
                    try connection.publish("forbidden.a", body: [1])
                    try connection.publish("allowed.a", body: [2])
                    #expect(try await subscription.next().message?.body == [2])
                    let code = try await failure { try await connection.request("forbidden.b", timeout: .seconds(60)) }
                    #expect(code == .denied)
                    #expect(
                        try await failure { try await connection.request("allowed.b", timeout: .seconds(60)) }
                            == .noResponders)
                    // Longer than the text that libnats keeps.
                    let long = "forbidden." + String(repeating: "x", count: 500)
                    #expect(try await failure { try await connection.request(long, timeout: .seconds(60)) } == .denied)
                }
                try await connection.withSubscription(to: "forbidden.>") { subscription async throws in
                    #expect(try await failure { try await subscription.next() } == .denied)
                }
                #expect(connection.connectionCount == 1)
            }
        }
    }

    @Test func `A user that may not receive replies has no connection, and learns why`() async throws {
        let settings = "no_auth_user: me, authorization { users: [ { user: me, permissions: { subscribe: x } } ] }"
        try await NATSServer(settings: settings).whileRunning { server in
            try await withConnection(server.options) { connection in
                for await state in connection.changes() {
                    guard case .disconnected(let reason) = state, reason.contains("_INBOX") else { continue }
                    return
                }
            }
        }
    }

    @Test func `A user that may not ask for the server's version has a connection`() async throws {
        let settings = """
            no_auth_user: me
            authorization { users: [ { user: me, permissions: { publish: x, subscribe: "_INBOX.>" } } ] }
            """
        try await withServer(settings: settings) { _, connection in
            let info = try await connection.waitUntilConnected(timeout: .seconds(30))
            #expect(info.version == nil)
            #expect(info.maximumPayload == 9 << 20)
        }
    }

    @Test func `A server with a certificate of another authority is refused`() async throws {
        try await withKeys { keys, server in
            let others = try await Keys()
            defer { others.folder.remove() }
            var options = keys.options(server)
            options.authorityFile = others.folder.path("ca.pem")
            try await withConnection(options) { try await $0.waitForDisconnection() }
        }
    }

    @Test func `A server with a certificate for another name is refused`() async throws {
        try await withKeys { keys, server in
            var options = keys.options(server)
            options.servers = ["tls://127.0.0.1:\(server.port)"]
            try await withConnection(options) { try await $0.waitForDisconnection() }
        }
    }

    @Test func `A missing file is named`() async throws {
        var options = NATSOptions(servers: ["nats://127.0.0.1:1"], name: "test")
        options.nkeyFile = "/nowhere/user.nk"
        try await withConnection(options) { connection in
            try await connection.waitForDisconnection()
            guard case .disconnected(let reason) = connection.current else { throw Unexpected(description: "up") }
            #expect(reason == "/nowhere/user.nk is not a readable file with the seed of a user's nkey (SU…)")
        }
    }

    @Test func `An nkey has the public key that nsc gives it`() {
        // The seed of 32 zero bytes, whose Ed25519 key is in many test vectors.
        let seed = NKey.seed([UInt8](repeating: 0, count: 32))
        #expect(seed.hasPrefix("SUAAAAAAAAAAA"))
        #expect(NKey.publicKey(seed: seed)?.hasPrefix("UA5WUJ54Z23KILLCUOUN") == true)
        #expect(NKey.publicKey(seed: String(seed.dropLast()) + "B") == nil)
        #expect(NKey.publicKey(seed: "SUABC") == nil)
    }
}
