package import EventBus
internal import Foundation

extension FeedMessage {
    /// - Throws: ``BusError`` with code `malformed` when the header is not CloudEvents JSON.
    package func envelope() throws -> Envelope {
        do {
            return Envelope(
                attributes: try JSONDecoder().decode(Attributes.self, from: Data(header)), data: Data(data),
                position: offset > 0 ? Position(epoch: epoch, offset: offset) : nil)
        } catch let error as DecodingError {
            throw BusError(
                .malformed, "the message at \(offset) on \(topic) has an unreadable header: \(error.summary)")
        }
    }
}
