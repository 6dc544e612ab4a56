import Foundation
import Logging
import SystemSupport

/// Answers the requests that other processes send to a supervisor.
///
/// The answer does not wait for the effects of the request. A request that cannot be decoded is refused. Processes of
/// other users except root get no answer.
final class ControlServer: Sendable {
    /// The maximum number of connections that are served at the same time. Further connections wait.
    private static let capacity = 16
    /// The maximum time of one connection. After it, the connection is closed.
    private static let patience: Duration = .seconds(5)
    /// The maximum size of a request or a reply in bytes. A longer request gets no reply.
    static let longestCall = 16 << 20

    private let socket: UnixSocket
    private let logger: Logger

    /// - Parameter path: the path of the socket, in a folder with mode 0700.
    /// - Throws: ``ComposeError`` `socket-path-too-long`, `socket`.
    init(path: String, logger: Logger) throws(ComposeError) {
        do {
            socket = try UnixSocket(.stream, boundTo: path)
        } catch {
            throw .socket(error)
        }
        self.logger = logger
    }

    /// Accepts connections and answers calls until the task is cancelled.
    func serve(_ answer: @escaping @Sendable (ControlCall) async -> ControlReply) async {
        await withTaskGroup(of: Void.self) { group in
            var present = 0
            while let connection = await socket.accept() {
                if present == Self.capacity {
                    await group.next()
                    present -= 1
                }
                present += 1
                group.addTask { await self.serve(connection, answer) }
            }
            group.cancelAll()
        }
    }

    private func serve(
        _ connection: UnixStream, _ answer: @escaping @Sendable (ControlCall) async -> ControlReply
    ) async {
        await firstResult(
            of: {
                guard connection.isOwnUsers, let data = await connection.readAll(limit: Self.longestCall) else {
                    return
                }
                await connection.writeAll(self.reply(to: data, answer))
            },
            { try? await Task.sleep(for: Self.patience) })
    }

    private func reply(to data: Data, _ answer: (ControlCall) async -> ControlReply) async -> Data {
        let reply: ControlReply
        do {
            reply = await answer(try JSONDecoder().decode(ControlCall.self, from: data))
        } catch {
            logger.warning("a request cannot be decoded", metadata: ["bytes": "\(data.count)"])
            let message = "the supervisor cannot decode the request"
            reply = .refused(
                ComposeError(
                    code: "control-request", message: message,
                    recovery: "if another version of segue started the supervisor, run 'segue down' and 'segue up'"))
        }
        return (try? JSONEncoder().encode(reply)) ?? Data()
    }
}
