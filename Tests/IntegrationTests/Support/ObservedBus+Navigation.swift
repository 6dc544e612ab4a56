import Contracts
import EventBus
import Navigation
import SegueTestSupport

extension ObservedBus {
    /// Waits until `screen` is the top screen of a platform.
    @discardableResult
    func isAt(
        _ screen: String, on platform: String, in session: String = Session.default,
        fileID: StaticString = #fileID, line: UInt = #line
    ) async throws -> NavigationSnapshot {
        try await document(
            Document.NavigationState.self, key: platform, subject: session, fileID: fileID, line: line
        ) { $0.snapshot.state.top.screen == screen }.snapshot
    }

    /// Waits until a document is withdrawn.
    @discardableResult
    func tombstone(
        of document: Envelope, fileID: StaticString = #fileID, line: UInt = #line
    ) async throws -> Envelope {
        let what = "\(document.type) \(document.attributes.key ?? "") is withdrawn"
        try await until(what, fileID: fileID, line: line) {
            $0.tombstone(of: document) != nil
        }
        guard let tombstone = messages.tombstone(of: document) else { throw CancellationError() }
        return tombstone
    }
}

extension [Envelope] {
    fileprivate func tombstone(of document: Envelope) -> Envelope? {
        first { $0.isTombstone && $0.type == document.type && $0.attributes.key == document.attributes.key }
    }
}
