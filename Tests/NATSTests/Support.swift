import NATS
import NATSTestSupport
import Testing

/// Runs `body` with a connection, which is closed afterwards.
func withConnection<Result: Sendable>(
    _ options: NATSOptions, _ body: @escaping @Sendable (NATSConnection) async throws -> Result
) async throws -> Result {
    let connection = NATSConnection(options)
    return try await during {
        try await connection.run()
    } _: {
        try await body(connection)
    }
}

/// Runs `body` with a connected client of a new server.
func withServer<Result: Sendable>(
    settings: String = "", _ body: @escaping @Sendable (NATSServer, NATSConnection) async throws -> Result
) async throws -> Result {
    try await NATSServer(settings: settings).whileRunning { server in
        try await withConnection(server.options) { connection in
            try await connection.waitUntilConnected(timeout: .seconds(30))
            return try await body(server, connection)
        }
    }
}

extension NATSServer {
    var options: NATSOptions { NATSOptions(servers: [url], name: "test") }
}

extension NATSConnection {
    /// Waits until the connection has been made `count` times.
    func waitUntilConnected(number count: Int) async throws {
        for await state in changes() {
            if case .connected = state, connectionCount >= count { return }
        }
        try Task.checkCancellation()
        throw NATSError(.closed, "the connection ended")
    }

    /// Waits until there is no connection.
    func waitUntilDisconnected() async throws {
        for await state in changes() {
            switch state {
            case .disconnected, .refused: return
            case .connecting, .connected, .closed: continue
            }
        }
        try Task.checkCancellation()
    }
}

/// Repeats an operation while it fails with an error that may pass: no leader, no connection, no reply, or a server
/// that has just started and does not know its streams yet.
func waitUntilItWorks<Result>(_ operation: () async throws -> Result) async throws -> Result {
    while true {
        do {
            return try await operation()
        } catch let error where error.passes {
        }
        try await Task.sleep(for: .milliseconds(100))
    }
}

/// The ``NATSError`` code of an operation that fails.
func failure<Result>(of operation: () async throws -> Result) async throws -> NATSError.Code {
    do {
        _ = try await operation()
    } catch let error as NATSError {
        return error.code
    }
    throw Unexpected(description: "the operation succeeded")
}

/// The ``JetStreamError`` code of an operation that fails.
func refusal<Result>(of operation: () async throws -> Result) async throws -> JetStreamError.Code {
    do {
        _ = try await operation()
    } catch let error as JetStreamError {
        return error.code
    }
    throw Unexpected(description: "the operation succeeded")
}

struct Unexpected: Error, CustomStringConvertible {
    let description: String
}
