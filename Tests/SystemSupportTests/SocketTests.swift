import Foundation
import Testing

@testable import SystemSupport

@Suite("Unix sockets")
struct UnixSocketTests {
    @Test("A path that is empty or too long is not an address")
    func addresses() throws {
        #expect(UnixAddress("") == nil)
        #expect(UnixAddress("@") == nil)
        #expect(UnixAddress(String(repeating: "x", count: 107)) != nil)
        #expect(UnixAddress(String(repeating: "x", count: 108)) == nil)
        let error = #expect(throws: SystemError.self) {
            _ = try UnixSocket(.stream, boundTo: String(repeating: "x", count: 108))
        }
        #expect(error?.code == ENAMETOOLONG)
    }

    @Test("One message is sent in each direction, and the socket's path is removed afterwards")
    func stream() async throws {
        try await inScratchFolder { directory in
            let path = "\(directory)/socket"
            // Left by an earlier process.
            try Data().write(to: URL(fileURLWithPath: path))
            do {
                let server = try Server(path)
                async let served: Void = server.serveOne()
                let client = try connection(to: path)
                let isOwnUsers = client.isOwnUsers
                #expect(isOwnUsers)
                await client.writeAll(Data("question".utf8))
                #expect(await client.readAll(limit: 100) == Data("QUESTION".utf8))
                await served
            }
            #expect(!FileManager.default.fileExists(atPath: path))
            #expect(throws: NoConnection.self) { _ = try connection(to: path) }
        }
    }

    @Test("A message that is longer than the limit is given up")
    func limit() async throws {
        try await inScratchFolder { directory in
            let server = try Server("\(directory)/socket")
            async let served: Void = server.serveOne()
            let client = try connection(to: "\(directory)/socket")
            await client.writeAll(Data(repeating: 1, count: 1000))
            #expect(await client.readAll(limit: 999) == nil)
            await served
        }
    }

    @Test("A wait for a connection ends with its task")
    func cancelled() async throws {
        try await inScratchFolder { directory in
            let server = try Server("\(directory)/socket")
            let wait = Task { await server.serveOne() }
            wait.cancel()
            await wait.value
        }
    }
}

private struct NoConnection: Error {}

private func connection(to path: String) throws -> UnixStream {
    guard let stream = UnixStream.connect(to: path) else { throw NoConnection() }
    return stream
}

/// Answers one connection with its input in capital letters.
private final class Server: Sendable {
    private let socket: UnixSocket

    init(_ path: String) throws {
        socket = try UnixSocket(.stream, boundTo: path)
    }

    func serveOne() async {
        guard let connection = await socket.accept() else { return }
        let question = await connection.readAll(limit: 10_000) ?? Data()
        await connection.writeAll(Data(String(decoding: question, as: UTF8.self).uppercased().utf8))
    }
}

@Suite("Notifications of a service to its supervisor")
struct NotificationTests {
    @Test("A message arrives unchanged", arguments: [0, 1])
    func journey(isAbstract: Int) async throws {
        try await inScratchFolder { directory in
            let path = isAbstract == 1 ? "@\(directory)" : "\(directory)/notify"
            let socket = try NotifySocket(path: path)
            #expect(socket.receive() == nil)
            let notifier = Notifier(socketPath: socket.path)
            var message = NotifyMessage(
                isReady: true, isStopping: true, status: "a = b", isHeartbeat: true,
                extensions: ["X_A": "1", "X_B": ""])
            message.isWatchdogTriggered = true
            message.startExtension = .seconds(3)
            notifier.notify(message)
            notifier.notify(.alive, patience: .seconds(1))
            #expect(await socket.next() == message)
            #expect(await socket.next() == .alive)
            #expect(socket.receive() == nil)
        }
    }

    @Test("A status is one line, whatever it contains, and adds no other field")
    func lines() {
        #expect(NotifyMessage(status: "one\nREADY=1").text == "STATUS=one READY=1")
    }

    @Test("Unknown names and invalid fields are ignored, and times are bounded")
    func unknown() {
        let text = "NAME=1\nready\nREADY=2\nEXTEND_TIMEOUT_USEC=9223372036854775807\nSTATUS=x"
        let message = NotifyMessage(Array(text.utf8))
        #expect(message.startExtension == .seconds(86_400))
        #expect((message.isReady, message.status) == (false, "x"))
        #expect(NotifyMessage(Array("EXTEND_TIMEOUT_USEC=-1".utf8)) == NotifyMessage())
    }

    @Test("A readiness message is read line by line, and unknown lines are ignored")
    func notifyMessage() {
        let message = NotifyMessage(Array("MAINPID=1\nSTATUS=a=b\nREADY=1\nX_MINE=2\nnonsense".utf8))
        #expect(message.isReady && !message.isStopping)
        #expect(message.status == "a=b")
        #expect(message.extensions == ["X_MINE": "2"])
        #expect(!NotifyMessage(Array("READY=0".utf8)).isReady)
    }

    @Test("A missing or ended supervisor is not a failure")
    func nobody() {
        Notifier(socketPath: nil).notify(.ready)
        Notifier(socketPath: "/tmp/segue-nobody").notify(.ready)
        Notifier(socketPath: String(repeating: "x", count: 200)).notify(.ready)
    }

    @Test("A supervisor with a full queue misses a message, and delays the service for a limited time")
    func full() async throws {
        try await inScratchFolder { directory in
            let socket = try NotifySocket(path: "\(directory)/notify")
            let notifier = Notifier(socketPath: socket.path)
            let begin = ContinuousClock.now
            for _ in 0..<5000 { notifier.notify(.alive) }
            notifier.notify(.alive, patience: .milliseconds(50))
            #expect(.now - begin < .seconds(10))
            #expect(socket.receive() == .alive)
        }
    }

    @Test("A wait ends at its time, or with a message")
    func wait() async throws {
        try await inScratchFolder { directory in
            let socket = try NotifySocket(path: "\(directory)/notify")
            await socket.wait(until: .now + .milliseconds(10))
            #expect(socket.receive() == nil)
            Notifier(socketPath: socket.path).notify(.stopping)
            await socket.wait(until: nil)
            #expect(socket.receive() == .stopping)
        }
    }
}
