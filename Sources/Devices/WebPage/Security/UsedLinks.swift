internal import Foundation
internal import NIOPosix
internal import SignIn
internal import Synchronization
internal import SystemSupport

/// The links that have signed a browser in and have not expired yet. They are stored in a file, so that a restart of
/// the gateway does not make them valid again.
final class UsedLinks: Sendable {
    private let path: String
    /// The expiry times, in seconds since 1970, by the ids of the links.
    private let expiries: Mutex<[String: Int]>

    init(_ folder: PageFolder) {
        path = folder.usedLinksPath
        let content = FileManager.default.contents(atPath: path)
        expiries = Mutex(content.flatMap { try? JSONDecoder().decode([String: Int].self, from: $0) } ?? [:])
    }

    /// Uses a link.
    /// - Returns: False if the link was used before.
    /// - Throws: An error if the use cannot be stored. The link is used nevertheless.
    func use(_ link: SignedToken, now: Date = Date()) async throws -> Bool {
        // The thread pool writes the file, because writing would block a thread of the cooperative pool.
        try await NIOThreadPool.singleton.runIfActive { [self] in
            try expiries.withLock { expiries in
                expiries = expiries.filter { Double($0.value) > now.timeIntervalSince1970 }
                guard expiries.updateValue(link.expiry, forKey: link.id) == nil else { return false }
                try AtomicFile(path).replace(with: try JSONEncoder().encode(expiries))
                return true
            }
        }
    }
}
