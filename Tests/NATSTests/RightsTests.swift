import Foundation
import NATS
import NATSTestSupport
import Sodium
import Support
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2)))
struct RightsTests {
    private static let user = "user"

    private static func settings(_ keys: TestKeys) -> String {
        """
        \(keys.tls)
        authorization {
          users: [ { nkey: \(keys.key(of: user)), permissions: {
            publish: ["allowed.>", "_INBOX.>", "$SYS.REQ.USER.INFO"], subscribe: ["allowed.>", "_INBOX.>"]
          } } ]
        }
        """
    }

    private func withKeys(_ body: @escaping @Sendable (TestKeys, NATSServer) async throws -> Void) async throws {
        let keys = try await TestKeys(users: [Self.user])
        defer { keys.folder.remove() }
        try await NATSServer(settings: Self.settings(keys)).whileRunning { try await body(keys, $0) }
    }

    @Test func `A user with an nkey can do over TLS what its rights permit, and gets an error for anything else`()
        async throws
    {
        try await withKeys { keys, server in
            try await withConnection(keys.options(of: Self.user, server)) { connection in
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

    @Test func `A user with credentials of nsc can do what its JWT permits`() async throws {
        let credentials = try await TestCredentials()
        defer { credentials.folder.remove() }
        try await NATSServer(settings: credentials.settings).whileRunning { server in
            var options = server.options
            try await withConnection(options) { try await $0.waitUntilDisconnected() }
            options.setFiles { $0 == "SEGUE_BUS_CREDS" ? credentials.file : nil }
            try await withConnection(options) { connection in
                try await connection.waitUntilConnected(timeout: .seconds(30))
                let jetStream = JetStream(connection, timeout: .seconds(10))
                _ = try await jetStream.createStream(["name": "S", "subjects": ["s.>"]])
                #expect(try await jetStream.publish("s.a", body: [1], id: "1").sequence == 1)
                let code = try await failure { try await connection.request("forbidden", timeout: .seconds(60)) }
                #expect(code == .denied)
            }
        }
    }

    @Test func `A user without the right to receive replies gets no connection, and an error with the reason`()
        async throws
    {
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

    @Test func `A user without the right to request the server's version gets a connection`() async throws {
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
            let others = try await TestKeys(users: [Self.user])
            defer { others.folder.remove() }
            var options = keys.options(of: Self.user, server)
            options.authorityFile = others.authorityFile
            try await withConnection(options) { try await $0.waitUntilDisconnected() }
        }
    }

    @Test func `A server with a certificate for another name is refused`() async throws {
        try await withKeys { keys, server in
            var options = keys.options(of: Self.user, server)
            options.servers = ["tls://127.0.0.1:\(server.port)"]
            try await withConnection(options) { try await $0.waitUntilDisconnected() }
        }
    }

    @Test func `A missing file is reported with its path`() async throws {
        var options = NATSOptions(servers: ["nats://127.0.0.1:1"], name: "test")
        options.nkeyFile = "/nowhere/user.nk"
        try await withConnection(options) { connection in
            try await connection.waitUntilDisconnected()
            guard case .disconnected(let reason) = connection.current else { throw Unexpected(description: "up") }
            #expect(reason == "/nowhere/user.nk is not a readable file with the seed of a user's nkey (SU…)")
        }
    }

    @Test func `A key file that has no nkey or that others can read, and a server without users, are reported`()
        async throws
    {
        let folder = try ScratchFolder()
        defer { folder.remove() }
        @Sendable func reason(_ content: String, mode: Int, at server: String = "nats://127.0.0.1:1") async throws
            -> String
        {
            let path = folder.path("music.key")
            let attributes: [FileAttributeKey: Any] = [.posixPermissions: mode]
            _ = FileManager.default.createFile(atPath: path, contents: Data(content.utf8), attributes: attributes)
            try FileManager.default.setAttributes(attributes, ofItemAtPath: path)
            var options = NATSOptions(servers: [server], name: "test")
            options.setFiles { $0 == KeyFilePlace.variable ? path : nil }
            return try await withConnection(options) { connection in
                try await connection.waitUntilDisconnected()
                guard case .disconnected(let reason) = connection.current else { throw Unexpected(description: "up") }
                return reason
            }
        }
        let seed = NKey().seed
        let file = "{ \"nkeySeed\" : \"\(seed)\" }"
        #expect(try await reason("{}", mode: 0o600).hasSuffix("has no nkey; replace it with 'segue keys rotate'"))
        #expect(try await reason(file, mode: 0o644).contains("is not a file that only you can read"))
        try await NATSServer().whileRunning { server in
            let reason = try await reason(file, mode: 0o600, at: server.url)
            #expect(reason.contains("the server has no users with nkeys") && !reason.contains(seed), "\(reason)")
        }
    }

    @Test func `An nkey has the same public key as in nsc`() {
        // The seed of 32 zero bytes, whose Ed25519 key is in many test vectors.
        let seed = NKey.seed([UInt8](repeating: 0, count: 32))
        #expect(seed.hasPrefix("SUAAAAAAAAAAA"))
        #expect(NKey(seedIn: seed)?.publicKey.hasPrefix("UA5WUJ54Z23KILLCUOUN") == true)
        #expect(NKey(seedIn: String(seed.dropLast()) + "B") == nil)
        #expect(NKey(seedIn: "SUABC") == nil)
        #expect(NKey(seedIn: "{ \"nkeySeed\" : \"\(seed)\" }")?.seed == seed)
    }
}
