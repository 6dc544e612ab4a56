package import Contracts
package import EventBus
package import Vocabulary

/// The newest of each document that the screens are made of; fed with envelopes, in any order of types.
package struct LatestDocuments: Sendable {
    package private(set) var playlists: Document.Playlists?
    package private(set) var generatedPlaylist: Document.GeneratedPlaylist?
    package private(set) var devices: Document.Devices?
    package private(set) var errorBanner: Document.ErrorBanner?

    package init() {}

    /// What to subscribe to.
    package static func filters(subject: String = Session.default) -> [MessageFilter] {
        [
            .type(Document.Playlists.self, subject: subject),
            .type(Document.GeneratedPlaylist.self, subject: subject),
            .type(Document.Devices.self, subject: subject),
            .type(Document.ErrorBanner.self, subject: subject),
        ]
    }

    /// Takes a document; a withdrawn one is gone. Other messages are none of its business.
    /// - Returns: whether it was one of these.
    /// - Throws: ``BusError`` if it cannot be read; the one before stays.
    @discardableResult
    package mutating func receive(_ envelope: Envelope) throws -> Bool {
        switch envelope.type {
        case Document.Playlists.type: playlists = try envelope.document()
        case Document.GeneratedPlaylist.type: generatedPlaylist = try envelope.document()
        case Document.Devices.type: devices = try envelope.document()
        case Document.ErrorBanner.type: errorBanner = try envelope.document()
        default: return false
        }
        return true
    }
}

extension Envelope {
    fileprivate func document<D: DocumentMessage>() throws -> D? {
        isTombstone ? nil : try decode(D.self)
    }
}
