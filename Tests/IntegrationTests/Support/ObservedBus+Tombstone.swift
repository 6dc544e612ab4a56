import EventBus
import SegueTestSupport

extension ObservedBus {
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
