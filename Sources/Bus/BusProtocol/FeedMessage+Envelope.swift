package import EventBus
internal import Foundation

extension Envelope {
    /// - Throws: ``BusError`` with code `malformed` when the header is not CloudEvents JSON.
    package init(header: Bytes, data: Bytes, position: Position? = nil) throws {
        do {
            self.init(
                attributes: try Attributes(json: header), data: Data(data),
                position: position)
        } catch let error as DecodingError {
            throw BusError(.malformed, "a message has an unreadable header: \(error.summary)")
        }
    }
}

extension FeedMessage {
    /// - Parameter settled: up to where everything came before it; up to its own offset unless said.
    /// - Throws: ``BusError`` with code `malformed` when the header is not CloudEvents JSON.
    package func envelope(settled: UInt64? = nil) throws -> Envelope {
        do {
            let position = offset > 0 ? Position(epoch: epoch, offset: offset, settled: settled ?? offset) : nil
            return try Envelope(header: header, data: data, position: position)
        } catch let error as BusError {
            throw BusError(error.code, "at \(offset) on \(topic): \(error.message)")
        }
    }
}

extension PublishedMessage {
    /// - Throws: ``BusError`` with code `malformed` when the header is not CloudEvents JSON.
    package func envelope() throws -> Envelope {
        try Envelope(header: header, data: data)
    }
}
