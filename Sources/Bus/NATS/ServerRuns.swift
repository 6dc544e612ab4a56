internal import Foundation
internal import Support
internal import Synchronization

extension NATSConnection {
    /// The ids of the servers by their names. A server has a new id each time it is started.
    ///
    /// All servers of a cluster answer `$SYS.REQ.ACCOUNT.PING.STATZ` with what they know of the user's account, and say
    /// who they are.
    /// - Parameters:
    ///   - names: The servers to wait for.
    ///   - timeout: The maximum time to wait. Then those that have not answered are missing.
    /// - Throws: ``NATSError`` as ``request(_:headers:body:timeout:accepting:)``, except for `timeout` and
    ///   `noResponders`.
    package func serverRuns(
        including names: Set<String>, timeout: Duration = .seconds(1)
    ) async throws -> [String: String] {
        let runs = RunCollector(names)
        do {
            _ = try await request(
                "$SYS.REQ.ACCOUNT.PING.STATZ", body: Array(#"{"include_unused":true}"#.utf8), timeout: timeout,
                accepting: runs.add)
        } catch let error as NATSError where error.code == .timeout || error.code == .noResponders {
            // Some servers are away.
        }
        return runs.found
    }
}

private final class RunCollector: Sendable {
    /// The maximum length of an id in bytes. It is a public nkey, which has 56.
    private static let maximumLength = 64

    private let names: Set<String>
    private let runs = Mutex<[String: String]>([:])

    init(_ names: Set<String>) {
        self.names = names
    }

    var found: [String: String] { runs.withLock(\.self) }

    /// Adds a reply.
    /// - Returns: True if all servers have answered.
    @Sendable func add(_ reply: NATSMessage) -> Bool {
        guard let server = (try? JSONValue(parsing: Data(reply.body)))?["server"],
            let name = server["name"]?.stringValue, names.contains(name),
            let id = server["id"]?.stringValue, !id.isEmpty, id.utf8.count <= Self.maximumLength
        else { return false }
        return runs.withLock { runs in
            runs[name] = id
            return names.allSatisfy { runs[$0] != nil }
        }
    }
}
