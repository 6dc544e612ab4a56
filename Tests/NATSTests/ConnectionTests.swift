import Compose
import Foundation
import NATS
import NATSTestSupport
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2)))
struct ConnectionTests {
    @Test func `A connection has the data of its server`() async throws {
        try await withServer { _, connection async throws in
            let info = try await connection.waitUntilConnected(timeout: .seconds(30))
            #expect(info.version == "2.15.1")
            #expect(info.name == "nats")
            #expect(info.hasJetStream == true)
            #expect(info.maximumPayload == 9 << 20)
            #expect(connection.connectionCount == 1)
            #expect(info.isAtLeast("2.12.1") == true)
            #expect(info.isAtLeast("2.15.1") == true)
            #expect(info.isAtLeast("2.15.2") == false)
            #expect(info.isAtLeast("10.0.0") == false)
        }
    }

    @Test func `A connection is made again after the server was killed, and subscriptions continue`() async throws {
        try await withServer { server, connection in
            try await connection.withSubscription(to: "news") { news in
                try await server.kill()
                try await connection.waitUntilDisconnected()
                #expect(try await failure { try connection.publish("news") } == .disconnected)
                #expect(try await failure { try await connection.request("x", timeout: .seconds(5)) } == .disconnected)
                try await server.restart()
                try await connection.waitUntilConnected(number: 2)
                try connection.publish("news", headers: ["Name": "value"], body: Array("text".utf8))
                let message = try #require(try await news.next().message)
                #expect(message.body == Array("text".utf8))
                #expect(message.headers == ["Name": "value"])
            }
        }
    }

    @Test func `A request in progress fails when the server is killed`() async throws {
        try await withServer { server, connection in
            try await connection.withSubscription(to: "question") { questions in
                async let code = failure { try await connection.request("question", timeout: .seconds(60)) }
                _ = try await questions.next()
                try await server.kill()
                #expect(try await code == .disconnected)
            }
        }
    }

    @Test func `A message that the thread of the connection sends at once does not overtake one that waits`()
        async throws
    {
        try await withServer { _, connection async throws in
            try await connection.withSubscription(to: "numbers") { subscription in
                for number in 0..<200 {
                    try await Task(executorPreference: connection.executor) {
                        let isWaiting = Flag()
                        let first = Task(executorPreference: globalConcurrentExecutor) {
                            try connection.publish("numbers", body: [UInt8(number), 0])
                            isWaiting.isSet.store(true, ordering: .releasing)
                        }
                        // The thread runs this task, so the first message waits for it.
                        while !isWaiting.isSet.load(ordering: .acquiring) { sched_yield() }
                        try connection.publish("numbers", body: [UInt8(number), 1])
                        try await first.value
                    }.value
                }
                for number in 0..<400 {
                    guard case .message(let message) = try await subscription.next() else {
                        Issue.record("messages were lost")
                        return
                    }
                    #expect(message.body == [UInt8(number / 2), UInt8(number % 2)])
                }
            }
        }
    }

    private final class Flag: Sendable {
        let isSet = Atomic(false)
    }

    @Test func `A client waits for a server that starts later`() async throws {
        let server = try NATSServer()
        try await withConnection(server.options) { connection in
            let code = try await failure { try await connection.waitUntilConnected(timeout: .milliseconds(500)) }
            #expect(code == .disconnected)
            try await server.whileRunning { _ in
                try await connection.waitUntilConnected(timeout: .seconds(30))
                #expect(connection.connectionCount == 1)
            }
        }
    }

    @Test func `A refused client tries again until the server accepts it`() async throws {
        let port = try LoopbackPort(for: "test")
        let strict = try NATSServer(port: port, settings: "authorization { user: somebody, password: secret }")
        let options = NATSOptions(servers: ["nats://127.0.0.1:\(port.number)"], name: "test")
        try await withConnection(options) { connection in
            try await strict.whileRunning { _ in try await connection.waitUntilDisconnected() }
            try await NATSServer(port: port).whileRunning { _ in
                try await connection.waitUntilConnected(timeout: .seconds(30))
            }
        }
    }

    /// Runs `body` with a connection over TCP or TLS.
    private func withConnectedServer(
        overTLS: Bool, _ body: @escaping @Sendable (NATSServer, NATSConnection) async throws -> Void
    ) async throws {
        guard overTLS else { return try await withServer(body) }
        let keys = try await TestKeys(users: ["user"])
        defer { keys.folder.remove() }
        try await NATSServer(settings: keys.tls).whileRunning { server in
            var options = keys.options(of: "user", server)
            options.nkeyFile = nil
            try await withConnection(options) { connection in
                try await connection.waitUntilConnected(timeout: .seconds(30))
                try await body(server, connection)
            }
        }
    }

    @Test(arguments: [false, true])
    func `A server that hangs does not block the end of the client, also with TLS`(overTLS: Bool) async throws {
        try await withConnectedServer(overTLS: overTLS) { server, connection in
            server.pause()
            // More than the buffers of the kernel hold.
            for _ in 0..<32 { try connection.publish("data", body: [UInt8](repeating: 0, count: 1 << 20)) }
            let code = try await failure { try await connection.request("data", timeout: .milliseconds(200)) }
            #expect(code == .timeout)
        }
    }

    @Test(arguments: [false, true])
    func `A connection to a server that hangs is given up, and made again when the server continues`(
        overTLS: Bool
    ) async throws {
        try await withConnectedServer(overTLS: overTLS) { server, connection in
            server.pause()
            for _ in 0..<32 { try connection.publish("data", body: [UInt8](repeating: 0, count: 1 << 20)) }
            try await connection.waitUntilDisconnected()
            server.resume()
            try await connection.waitUntilConnected(number: 2)
            #expect(try await failure { try await connection.request("data", timeout: .seconds(60)) } == .noResponders)
        }
    }

    @Test func `A connection cannot be used after its end`() async throws {
        let connection = try await withServer { _, connection in connection }
        #expect(connection.current == .closed)
        #expect(try await failure { try await connection.request("x", timeout: .seconds(5)) } == .closed)
        #expect(try await failure { try await connection.run() } == .closed)
        #expect(try await failure { try await connection.waitUntilConnected(timeout: .seconds(5)) } == .closed)
        #expect(try await failure { try await connection.withSubscription(to: "x") { _ in } } == .closed)
    }

    @Test func `Addresses in messages contain no password`() {
        let options = NATSOptions(servers: ["nats://me:secret@host:4222", "tls://other"], name: "test")
        #expect(options.addresses == "nats://host:4222,tls://other")
    }
}

extension NATSSubscription.Delivery {
    /// Nil for a loss.
    var message: NATSMessage? {
        guard case .message(let message) = self else { return nil }
        return message
    }

    /// Nil for a message.
    var loss: Int? {
        guard case .lost(let count) = self else { return nil }
        return count
    }
}
