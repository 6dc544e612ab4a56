import NATS
import NATSTestSupport
import Testing

@Suite(.timeLimit(.minutes(2)))
struct MessageTests {
    /// Replies to each request with its own body and headers.
    private func echo(_ connection: NATSConnection, _ requests: NATSSubscription) async throws {
        while case .message(let request) = try await requests.next() {
            guard let reply = request.reply else { continue }
            try connection.publish(reply, headers: request.headers, body: request.body)
        }
    }

    @Test func `A request gets its own reply`() async throws {
        try await withServer { _, connection async throws in
            try await connection.withSubscription(to: "echo") { requests in
                try await withThrowingTaskGroup { group in
                    group.addTask { try await echo(connection, requests) }
                    try await withThrowingTaskGroup { askers in
                        for number in 0..<200 {
                            askers.addTask {
                                let text = Array("\(number)".utf8)
                                let reply = try await connection.request(
                                    "echo", headers: ["Number": "\(number)"], body: text, timeout: .seconds(60))
                                #expect(reply.body == text)
                                #expect(reply.header("Number") == "\(number)")
                                #expect(reply.header("Other") == nil)
                                #expect(reply.status == nil)
                            }
                        }
                        try await askers.waitForAll()
                    }
                    group.cancelAll()
                }
            }
            #expect(connection.pendingReplyCount == 0)
        }
    }

    @Test func `A request that no process answers fails at once`() async throws {
        try await withServer { _, connection async throws in
            #expect(try await failure { try await connection.request("x", timeout: .seconds(60)) } == .noResponders)
        }
    }

    @Test func `A request without a reply times out`() async throws {
        try await withServer { _, connection async throws in
            try await connection.withSubscription(to: "silence") { _ in
                let code = try await failure { try await connection.request("silence", timeout: .milliseconds(100)) }
                #expect(code == .timeout)
                #expect(connection.pendingReplyCount == 0)
            }
        }
    }

    @Test func `Cancellation ends a request and frees its entry`() async throws {
        try await withServer { _, connection async throws in
            try await connection.withSubscription(to: "silence") { requests in
                try await withThrowingTaskGroup { group in
                    group.addTask {
                        await #expect(throws: CancellationError.self) {
                            try await connection.request("silence", timeout: .seconds(60))
                        }
                    }
                    _ = try await requests.next()
                    #expect(connection.pendingReplyCount == 1)
                    group.cancelAll()
                    try await group.waitForAll()
                }
                #expect(connection.pendingReplyCount == 0)
            }
        }
    }

    @Test func `A message larger than the server permits is refused`() async throws {
        try await withServer { _, connection async throws in
            let body = [UInt8](repeating: 0, count: 9 << 20 + 1)
            #expect(try await failure { try connection.publish("x", body: body + body) } == .tooLarge)
        }
    }

    @Test(arguments: ["", "a b", "a\r\nPUB x 0\r\n"])
    func `An invalid subject is refused`(subject: String) async throws {
        try await withServer { _, connection async throws in
            #expect(try await failure { try connection.publish(subject) } == .invalid)
        }
    }

    @Test func `A header of two lines is refused`() async throws {
        try await withServer { _, connection async throws in
            #expect(try await failure { try connection.publish("x", headers: ["A": "b\r\nC: d"]) } == .invalid)
            #expect(try await failure { try connection.publish("x", headers: ["A\n": "b"]) } == .invalid)
        }
    }

    @Test func `All pending publications fail when one has no responder, and can be published again`()
        async throws
    {
        try await withServer { _, connection async throws in
            try await connection.withSubscription(to: "slow") { reader in
                let (codes, writer) = AsyncStream.makeStream(of: NATSError.Code?.self)
                func publish(_ subject: String) {
                    connection.publish(subject, timeout: .seconds(60)) { result in
                        if case .failure(let error) = result { writer.yield((error as? NATSError)?.code) }
                    }
                }
                publish("slow")
                _ = try await reader.next()
                publish("elsewhere")
                for await code in codes.prefix(2) { #expect(code == .noResponders) }
                #expect(connection.pendingReplyCount == 0)
                publish("slow")
                _ = try await reader.next()
            }
        }
    }

    @Test func `A slow reader receives the number of lost messages at the right place`() async throws {
        try await withServer { _, connection async throws in
            try await connection.withSubscription(to: "many", limit: 10) { reader in
                for number in 0..<100 { try connection.publish("many", body: [UInt8(number)]) }
                // The round trip comes back after the messages.
                try await connection.roundTrip()
                for number in 0..<10 { #expect(try await reader.next().message?.body == [UInt8(number)]) }
                #expect(try await reader.next().loss == 90)
                #expect(reader.lostCount == 90)
                try connection.publish("many", body: [100])
                #expect(try await reader.next().message?.body == [100])
            }
        }
    }

    @Test func `A subscription ends with its scope`() async throws {
        try await withServer { _, connection async throws in
            try await connection.withSubscription(to: "x") { _ in }
            try await connection.roundTrip()
            #expect(try await failure { try await connection.request("x", timeout: .seconds(60)) } == .noResponders)
        }
    }
}
