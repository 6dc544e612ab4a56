internal import Foundation
internal import Support

/// A server that a connection uses.
package struct NATSServerInfo: Hashable, Sendable {
    /// The server's version, such as `2.15.1`. Nil if this user may not ask for it (`$SYS.REQ.USER.INFO`).
    package var version: String?
    package var name: String?
    /// True if the server has JetStream. Nil if it is not known.
    package var hasJetStream: Bool?
    /// False if the server is not in a cluster. Nil if it is not known.
    package var isClustered: Bool?
    /// The maximum size of a message in bytes.
    package var maximumPayload: Int

    /// True if the server has at least this version. Nil if its version is not known.
    package func isAtLeast(_ minimum: String) -> Bool? {
        version.map { version in
            // A pre-release, such as `2.12.0-RC.1`, counts as its release.
            let (left, right) = (Self.numbers(version), Self.numbers(minimum))
            return !left.lexicographicallyPrecedes(right)
        }
    }

    private static func numbers(_ version: String) -> [Int] {
        Substring(version.unicodeScalars.prefix { $0 != "-" && $0 != "+" }).split(scalar: ".").map { Int($0) ?? 0 }
    }
}

/// The state of a ``NATSConnection``.
package enum NATSState: Hashable, Sendable {
    case connecting
    case connected(NATSServerInfo)
    /// There is no connection, and the client tries to make one. The reason is for people.
    case disconnected(String)
    /// As ``disconnected(_:)``: the servers do not accept the user, or its key file does not exist.
    case refused(String)
    /// `run()` has ended.
    case closed
}

extension NATSServerInfo {
    /// Reads the response to `$SYS.REQ.USER.INFO`.
    mutating func read(_ body: [UInt8]) {
        guard let server = (try? JSONValue(parsing: Data(body)))?["server"] else { return }
        version = server["ver"]?.stringValue
        name = server["name"]?.stringValue
        hasJetStream = server["jetstream"]?.boolValue
        isClustered = server["cluster"]?.stringValue.map { !$0.isEmpty } ?? false
    }
}
